import type { Readable } from "node:stream";
import { createLambdaHost, type LambdaHost } from "../../../infra/local/lambda/lambda-host.ts";

/** The folder of the functions, which is this one. */
export const directory = import.meta.dirname;
const names = ["missing", "echo", "fail", "crash", "hang", "flood", "breakOff", "throwLate", "throwFirst", "grow"];

export interface HostOptions {
  maxEnvironments?: number;
  timeoutSeconds?: number;
  folder?: string;
}

/** Starts a host of the functions in `index.mjs`, which logs lines. */
export function startHost(log: (line: string) => void, options: HostOptions = {}): LambdaHost {
  const { maxEnvironments = 1, timeoutSeconds = 20, folder = directory } = options;
  return createLambdaHost(
    names.map((name) => ({
      name,
      arn: `arn:aws:lambda:us-east-1:000000000000:function:${name}`,
      directory: folder,
      handler: `index.${name}`,
      timeoutSeconds,
      memoryMegabytes: 256,
      environment: { AWS_LAMBDA_LOG_FORMAT: "JSON" },
    })),
    { log, maxEnvironments },
  );
}

/** The streamed response of a function. */
export async function streamOf(host: LambdaHost, name: string): Promise<Readable> {
  const response = await host.invoke(name, {});
  if (response.kind !== "streamed") throw new Error(`${name} did not stream`);
  return response.body;
}
