import { Readable } from "node:stream";
import { mock } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { type HttpRequest, HttpResponse } from "@smithy/core/protocols";
import { bundled } from "../helpers/bundled/bundled.ts";
import { testEnvironment } from "../helpers/test-environment.ts";

/** The request that an attempt sends to the table. */
export interface Request {
  /** Like `DynamoDB_20120810.UpdateItem`. */
  target: string;
  body: string;
}

/** The table's HTTP response to an attempt; "none" when it does not arrive in time. */
export type Response = { status: number; body: string } | "none";

/** A client's next step: it sends another attempt, or responds to its own client. */
export type Step = { sends: Request } | { responds: string };

/** Makes the client in the functions' bundles, or another one, as the service does. */
export type Connect = (
  maxAttempts: number,
  createClient?: typeof bundled.createClient,
) => DynamoDBClient;

/**
 * Code that calls the table, and responds to its own client with `204`, or the status and code of
 * an error.
 */
export type TableClient = (connect: Connect) => Promise<string>;

/**
 * The real code on the real client, which sees nothing but responses. For each sequence of
 * them, it runs once, without waiting, to find out its next step.
 */
export class RecordedClient {
  readonly name: string;
  readonly #code: TableClient;
  readonly #steps = new Map<string, Step>();

  constructor(name: string, code: TableClient) {
    this.name = name;
    this.#code = code;
  }

  /** The client's next step after these responses to its attempts so far. */
  async after(responses: readonly Response[]): Promise<Step> {
    const key = JSON.stringify(responses);
    const known = this.#steps.get(key);
    if (known !== undefined) return known;
    const step = await record(this.#code, responses);
    this.#steps.set(key, step);
    return step;
  }
}

// Lambda sets these for a function, and no client can do without them.
Object.assign(process.env, testEnvironment);

/** Runs the code until its first step after these responses. */
async function record(code: TableClient, responses: readonly Response[]): Promise<Step> {
  mock.timers.enable({ apis: ["setTimeout"] });
  try {
    let step: Step | undefined;
    let attempts = 0;
    const handle = async ({
      headers,
      body,
    }: HttpRequest): Promise<{ response: HttpResponse }> => {
      const response = responses[attempts];
      attempts += 1;
      if (response !== undefined) return { response: arrive(response) };
      const target = String(headers["x-amz-target"]);
      step ??= { sends: { target, body: new TextDecoder().decode(body) } };
      return new Promise(() => {});
    };
    const connect: Connect = (maxAttempts, createClient = bundled.createClient) => {
      const client = createClient({
        connectionTimeout: 500,
        requestTimeout: 2_000,
        maxAttempts,
      });
      client.config.requestHandler = { ...client.config.requestHandler, handle };
      return client;
    };
    code(connect).then((response) => {
      step ??= { responds: response };
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

/** @throws Error as the SDK's HTTP handler does when no response arrives in time. */
function arrive(response: Response): HttpResponse {
  if (response === "none")
    throw Object.assign(new Error("No response in time"), { name: "TimeoutError" });
  const headers = { "content-type": "application/x-amz-json-1.0" };
  return new HttpResponse({
    statusCode: response.status,
    headers,
    body: Readable.from([Buffer.from(response.body)]),
  });
}
