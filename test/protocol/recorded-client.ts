import { Readable } from "node:stream";
import { mock } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { type HttpRequest, HttpResponse } from "@smithy/core/protocols";
import { createClient } from "../../shared/dynamodb.ts";
import { testEnvironment } from "../helpers/test-environment.ts";

export interface Request {
  /** Like `DynamoDB_20120810.UpdateItem`. */
  target: string;
  body: string;
}

/** The table's HTTP response to an attempt; "none" when it does not arrive in time. */
export type Response = { status: number; body: string } | "none";

/** A client's next step: it sends another attempt, or responds to its own client. */
export interface Step {
  sends?: Request;
  /** `204`, or the status and code of an error. */
  responds?: string;
}

/** Makes the functions' client. */
export type Connect = (maxAttempts: number) => DynamoDBClient;

// Lambda sets these for a function, and no client can do without them.
Object.assign(process.env, testEnvironment);

/** The next step of real code on the real client after these responses. It does not wait. */
export async function nextStep(
  code: (connect: Connect) => Promise<string>,
  responses: readonly Response[],
): Promise<Step> {
  mock.timers.enable({ apis: ["setTimeout"] });
  try {
    let step: Step | undefined;
    let attempts = 0;
    const handle = async ({ headers, body }: HttpRequest) => {
      const response = responses[attempts];
      attempts += 1;
      if (response !== undefined) return { response: arrive(response) };
      const target = String(headers["x-amz-target"]);
      step ??= { sends: { target, body: new TextDecoder().decode(body) } };
      return new Promise<never>(() => {});
    };
    const connect: Connect = (maxAttempts) => {
      const limits = { connectionTimeout: 500, requestTimeout: 2_000, maxAttempts };
      const client = createClient(limits);
      client.config.requestHandler = { ...client.config.requestHandler, handle };
      return client;
    };
    code(connect).then((responds) => {
      step ??= { responds };
    });
    while (step === undefined) {
      await nextTurn();
      // The pauses between attempts.
      mock.timers.runAll();
    }
    return step;
  } finally {
    mock.timers.reset();
  }
}

/** Throws as the SDK's HTTP handler does when no response arrives in time. */
function arrive(response: Response) {
  if (response === "none")
    throw Object.assign(new Error("No response in time"), { name: "TimeoutError" });
  return new HttpResponse({
    statusCode: response.status,
    headers: { "content-type": "application/x-amz-json-1.0", "x-amzn-requestid": "A1" },
    body: Readable.from([Buffer.from(response.body)]),
  });
}
