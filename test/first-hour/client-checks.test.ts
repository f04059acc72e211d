import { once } from "node:events";
import { createServer, type SecureVersion } from "node:tls";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { mockClient } from "aws-sdk-client-mock";
import { describe, expect, onTestFinished, test } from "vitest";
import { gateway, smokeTest } from "../../infra/first-hour/gateway.ts";
import { lists } from "../../infra/first-hour/lists.ts";
import { listeningPort } from "../../infra/local/machine/ports.ts";
import { type Fault, without } from "../helpers/smoke/faults.ts";
import { errorResponse, tinyServiceForEachTest } from "../helpers/smoke/tiny-service.ts";
import { runCheck, stageOf } from "./stage.ts";

const service = tinyServiceForEachTest();

test("the first hour names what fails in the smoke test that it begins with", async () => {
  const dynamodb = mockClient(DynamoDBClient);
  dynamodb.onAnyCommand().resolves({});
  onTestFinished(() => dynamodb.restore());
  service.fault = without("Allow", 405);
  const lines = await runCheck(smokeTest, "smoke test", stageOf(service));
  expect(lines).toEqual([expect.stringMatching(/^FAIL .*405 and Allow .*header Allow is missing/)]);
});

describe("requests beyond the limit", () => {
  /** Turns every third request away. */
  const throttled = (headers: Record<string, string>): Fault => {
    let sent = 0;
    return (_request, right) =>
      sent++ % 3 === 0 ? errorResponse("too_many_requests", headers) : right;
  };

  test.each<[string, Fault, RegExp]>([
    [
      "pass when they get 429 and Retry-After",
      throttled({ "Retry-After": "1" }),
      /^pass .*: \{"404":40,"429":20\}$/,
    ],
    ["fail when nothing limits them", (_request, right) => right, /^FAIL .*\{"404":60\}/],
    ["fail when Retry-After is missing", throttled({}), /^FAIL .*header Retry-After is missing/],
    ["fail when one of them fails", () => errorResponse("internal_error"), /^FAIL .*"500"/],
  ])("%s", async (_what, fault, expected) => {
    service.fault = fault;
    expect(await runCheck(gateway, "too many requests", stageOf(service))).toEqual([
      expect.stringMatching(expected),
    ]);
  });
});

test("requests with a key beside those without one are reported as seen", async () => {
  const [keyless] = await runCheck(gateway, "do requests without", stageOf(service));
  expect(keyless).toMatch(/^seen .*: \{"404":20\} with one.* \{"401":60\} without$/);
});

test("the response to long headers is reported as seen", async () => {
  const [long] = await runCheck(gateway, "what do headers", stageOf(service));
  expect(long).toMatch(/^seen .*: 404, app/);
});

describe("TLS 1.1", () => {
  test.each<[SecureVersion, SecureVersion, string]>([
    [
      "TLSv1.2",
      "TLSv1.3",
      "pass TLS 1.1 is refused, and TLS 1.2 is not: ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION",
    ],
    ["TLSv1.1", "TLSv1.2", "FAIL TLS 1.1 is refused, and TLS 1.2 is not: it speaks TLS 1.1"],
    ["TLSv1.3", "TLSv1.3", "FAIL TLS 1.1 is refused, and TLS 1.2 is not: TLS 1.2: ERR_SSL"],
  ])(
    "is refused by a server from %s to %s, or the check fails",
    async (minVersion, maxVersion, expected) => {
      const pskCallback = () => Buffer.from("shared");
      const server = createServer({
        ciphers: "ALL:PSK:@SECLEVEL=0",
        minVersion,
        maxVersion,
        pskCallback,
      });
      const port = await listeningPort(server);
      onTestFinished(async () => void (await once(server.close(), "close")));
      const [line] = await runCheck(
        gateway,
        "TLS 1.1",
        stageOf({ ...service, baseUrl: `https://localhost:${port}/v1` }),
      );
      expect(line).toContain(expected);
    },
  );
});

describe("a slow client's list", () => {
  const chunk = `{"id":1},`.repeat(5000);
  const sends = (chunks: number, end: string): Fault => {
    return (_request, right) =>
      right.status === 200
        ? { ...right, body: ["[", ...Array(chunks).fill(chunk), `{"id":2}${end}`] }
        : right;
  };

  test.each<[string, Fault, string]>([
    ["is whole", sends(60, "]"), "pass"],
    [
      "is cut off",
      (_request, right) => (right.status === 200 ? "hang up" : right),
      "FAIL .*, then the body can't be",
    ],
    ["has no end", sends(60, ""), "FAIL .* characters, then }"],
    ["is too short to be read slowly", sends(1, "]"), "FAIL .* it was read before that"],
  ])("gets a line when it %s", async (_what, fault, expected) => {
    service.fault = fault;
    const [line] = await runCheck(lists, "a client that reads slowly", stageOf(service));
    expect(line).toMatch(new RegExp(`^${expected}`));
  });
});
