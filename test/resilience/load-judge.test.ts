import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { DynamoDBClient, GetItemCommand, PutItemCommand, TransactWriteItemsCommand } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, PutCommand } from "@aws-sdk/lib-dynamodb";
import { mockClient } from "aws-sdk-client-mock";
import { afterAll, describe, expect, test } from "vitest";
import type { LocalStack } from "../../infra/local/local-stack.ts";
import { errorBody } from "../../shared/errors.ts";
import { LoadClients } from "../helpers/traffic/load-clients.ts";

const table = mockClient(DynamoDBClient);
const documents = mockClient(DynamoDBDocumentClient);
afterAll(() => {
  table.restore();
  documents.restore();
});

const conflict: [number, string] = [409, errorBody("order_already_cancelled")];
const notFound: [number, string] = [404, errorBody("order_not_found")];
const listed: [number, string] = [200, '[{"id":1000000},{"id":1000001}]'];
/** The responses to four clients that contest the first of two orders, and to one that lists. */
const right: ([number, string] | undefined)[] = [[204, ""], conflict, conflict, conflict, listed];
const cancelled = { status: { S: "cancelled" }, cancelledBy: { S: "rival_0" } };

/** Some requests of a load, so many at once, to a service that sends these responses, or hangs up. */
async function load(responses = right, status: Record<string, { S: string }> = cancelled, atOnce = 1) {
  documents.on(PutCommand).resolves({});
  table.on(TransactWriteItemsCommand).resolves({ ConsumedCapacity: [] });
  table.on(PutItemCommand).resolves({});
  table.on(GetItemCommand).resolves({ Item: { id: { N: "1000000" }, ...status } });
  const rest = [...responses];
  const waiting: (() => void)[] = [];
  const server = createServer((request, response) => {
    waiting.push(() => {
      const [code, body] = rest.shift() ?? [];
      if (code === undefined) request.socket.destroy();
      else response.writeHead(code).end(body);
    });
    if (waiting.length === atOnce) for (const respond of waiting.splice(0)) respond();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const stack = {
    baseUrl,
    apiKey: "key",
    dynamodbEndpoint: "http://127.0.0.1:1",
    tables: { orders: "o", apiKeys: "k" },
  };
  const clients = await LoadClients.connect(stack as LocalStack, atOnce, 2);
  for (let sent = 0; sent < responses.length; sent += atOnce) {
    await Promise.all(Array.from({ length: atOnce }, () => clients.next()));
  }
  await clients.close();
  server.close();
  return { wrong: clients.wrong, lines: clients.responses.lines() };
}

describe("the load's judge", () => {
  test("finds nothing wrong when one of four clients cancels an order, and a list has every order", async () => {
    expect(await load()).toEqual({
      wrong: [],
      lines: ["cancelOrder 204: 1", "cancelOrder 409 order_already_cancelled: 3", "listOrders 200: 1"],
    });
  });

  test.each<[what: string, at: number, response: [number, string] | undefined, wrong: string[]]>([
    ["a second cancellation", 1, [204, ""], ["Order 1000000 was cancelled 2 times, and 2 of 4 got the 409"]],
    ["no cancellation", 0, conflict, ["Order 1000000 was cancelled 0 times, and 4 of 4 got the 409"]],
    ["another success", 0, [200, ""], ["Cancelling 1000000: 200 ", "Order 1000000 was cancelled 0 times"]],
    ["another error", 3, notFound, [`Cancelling 1000000: 404 ${notFound[1]}`, "Order 1000000 was cancelled 1 times"]],
    ["a list without an order", 4, [200, '[{"id":1000000}]'], ["A list of 1 instead of 2: 200 "]],
    ["a list with an error", 4, [500, listed[1]], ["A list of 2 instead of 2: 500 "]],
    ["a list that is cut off", 4, [200, listed[1].slice(0, -1)], ["No response: SyntaxError"]],
    ["a list that is not sent", 4, undefined, ["No response: Error: socket hang up"]],
  ])("finds %s", async (_, at, response, wrong) => {
    const { wrong: found } = await load(right.with(at, response));
    expect(found).toEqual(expect.arrayContaining(wrong.map((line) => expect.stringContaining(line))));
  });

  test("finds an order that is still pending although a client has cancelled it", async () => {
    expect((await load(right, { status: { S: "pending" } })).wrong).toEqual([
      expect.stringMatching(/^Order 1000000: .*pending/),
    ]);
  });
});

test("a load sends as many requests at once as it has connections", async () => {
  // The service responds to neither of the two before it has both.
  const { lines } = await load(right.slice(0, 2), cancelled, 2);
  expect(lines).toEqual(["cancelOrder 204: 1", "cancelOrder 409 order_already_cancelled: 1"]);
});
