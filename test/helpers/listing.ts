import { buffer } from "node:stream/consumers";
import { DynamoDBClient, ScanCommand } from "@aws-sdk/client-dynamodb";
import type { APIGatewayProxyEvent, Context } from "aws-lambda";
import { mockClient } from "aws-sdk-client-mock";
import { beforeEach, expect } from "vitest";
import type { OrderItem } from "../../shared/order.ts";
import { awslambda, lambdaContext, proxyEvent, ResponseStream } from "./lambda.ts";

type StreamingHandler = (event: APIGatewayProxyEvent, stream: ResponseStream, context: Context) => Promise<void>;
Object.assign(globalThis, { awslambda });
const { handler } = (await import("../../functions/list-orders.ts")) as unknown as { handler: StreamingHandler };

/** The SDK's client as the function has it, new for each test. */
export const table = mockClient(DynamoDBClient);
beforeEach(() => void table.reset());

export const order = (id: number) => ({ id: { N: String(id) }, petId: { N: "7" }, complete: { BOOL: false } });
export const orders = (count: number) => Array.from({ length: count }, (_, index) => order(index));

/** The key of the last order of each page but the last. */
export const lastKey = { id: { N: "9223372036854775807" } };

/** Has the table respond to Scans with these pages, or fail. */
export function havePages(...pages: (OrderItem[] | Error)[]): void {
  const scan = table.on(ScanCommand);
  for (const [at, page] of pages.entries()) {
    if (page instanceof Error) scan.rejectsOnce(page);
    else scan.resolvesOnce({ Items: page, ...(at + 1 < pages.length && { LastEvaluatedKey: lastKey }) });
  }
}

/** Lists the orders, with these headers in the request. */
export function list(headers: Record<string, string> = {}) {
  const stream = new ResponseStream();
  const ended = handler(proxyEvent({ headers }), stream, lambdaContext("invocation-1"));
  return { stream, ended };
}

/** Lists, and expects that the function and the body fail. */
export async function listCutOff(headers?: Record<string, string>): Promise<ResponseStream> {
  const { stream, ended } = list(headers);
  const received = buffer(stream);
  await expect(ended).rejects.toThrow();
  await expect(received).rejects.toThrow();
  return stream;
}
