import { randomUUID } from "node:crypto";
import type { EventEmitter } from "node:events";
import { rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { CloudFormationClient, DescribeStacksCommand } from "@aws-sdk/client-cloudformation";
import { mockClient } from "aws-sdk-client-mock";
import { onTestFinished, vi } from "vitest";
import { runProgram } from "../../infra/admin/program.ts";
import { environments } from "../../infra/environments.ts";
import type { TestTables } from "../helpers/test-tables.ts";

/** How a command in this process ended. */
interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

interface Streams {
  /** Standard input, empty unless given. */
  input?: string;
  /** Which streams are terminals; standard input never is. */
  terminals?: ("stdout" | "stderr")[];
}

/** Runs a command in this process, a fraction of the time that a process of its own would take. */
export async function runCommand(
  args: string[],
  { input = "", terminals = [] }: Streams = {},
): Promise<Ended> {
  const printed = { stdout: "", stderr: "" };
  const spies = (["stdout", "stderr"] as const).map((name) =>
    vi.spyOn(process[name], "write").mockImplementation((text, ...rest: unknown[]) => {
      printed[name] += text;
      const written = rest.at(-1);
      if (typeof written === "function") written();
      return true;
    }),
  );
  const before = {
    stdout: process.stdout.isTTY,
    stderr: process.stderr.isTTY,
    exitCode: process.exitCode,
  };
  const stdin = Object.getOwnPropertyDescriptor(process, "stdin");
  // A command never removes its listeners: its process ends. Here, Node would warn of the eleventh.
  const listened: [EventEmitter, string][] = [
    [process, "SIGHUP"],
    [process, "SIGINT"],
    [process, "SIGTERM"],
    [process.stdout, "error"],
  ];
  const kept = listened.flatMap(([emitter, event]) => emitter.rawListeners(event));
  for (const name of ["stdout", "stderr"] as const) process[name].isTTY = terminals.includes(name);
  Object.defineProperty(process, "stdin", {
    configurable: true,
    value: Readable.from([Buffer.from(input)]),
  });
  process.exitCode = 0;
  try {
    await runProgram(args);
    return { code: Number(process.exitCode), ...printed };
  } finally {
    for (const spy of spies) spy.mockRestore();
    process.stdout.isTTY = before.stdout;
    process.stderr.isTTY = before.stderr;
    process.exitCode = before.exitCode;
    if (stdin) Object.defineProperty(process, "stdin", stdin);
    for (const [emitter, event] of listened) {
      const added = emitter.rawListeners(event).filter((listener) => !kept.includes(listener));
      for (const listener of added) emitter.off(event, listener as () => void);
    }
  }
}

export type Tables = Pick<TestTables, "dynamodbEndpoint" | "tables">;

/** Has CloudFormation know one stack, production's, with these outputs, until the test ends. */
export function deployProduction(outputs: Record<string, string>): void {
  const cloudFormation = mockClient(CloudFormationClient);
  onTestFinished(() => cloudFormation.restore());
  const { stackName } = environments.production;
  const stack = {
    StackId: `arn:aws:cloudformation:eu-central-1:210987654321:stack/${stackName}/5f3f`,
    StackName: stackName,
    StackStatus: "UPDATE_COMPLETE" as const,
    CreationTime: new Date(),
    Outputs: Object.entries(outputs).map(([OutputKey, OutputValue]) => ({
      OutputKey,
      OutputValue,
    })),
  };
  const unknown = Object.assign(new Error("Stack with id does not exist"), {
    name: "ValidationError",
  });
  cloudFormation.on(DescribeStacksCommand).rejects(unknown);
  cloudFormation.on(DescribeStacksCommand, { StackName: stackName }).resolves({ Stacks: [stack] });
}

/**
 * Makes the test file's tables those of production until the test ends.
 *
 * @param endpoint another engine's, or a proxy's.
 * @returns a function that runs a command on them in this process.
 */
export function commandsHere({ dynamodbEndpoint, tables }: Tables, endpoint = dynamodbEndpoint) {
  deployProduction({ OrdersTableName: tables.orders, ApiKeysTableName: tables.apiKeys });
  vi.stubEnv("AWS_ENDPOINT_URL_DYNAMODB", endpoint);
  return (args: string[], ...terminals: ("stdout" | "stderr")[]) =>
    runCommand([...args, "--env", "production"], { terminals });
}

/** Runs a command in this process on the tables of a local stack. */
export async function runHere(
  { dynamodbEndpoint, tables }: Tables,
  args: string[],
  streams?: Streams,
): Promise<Ended> {
  const stackFile = join(tmpdir(), `stack-${randomUUID()}.json`);
  await writeFile(
    stackFile,
    JSON.stringify([
      { baseUrl: "http://localhost:1/v1", dynamodbEndpoint, accessKeyId: "local", tables },
    ]),
  );
  vi.stubEnv("LOCAL_STACK_FILE", stackFile);
  return await runCommand([...args, "--local"], streams).finally(() => rm(stackFile));
}
