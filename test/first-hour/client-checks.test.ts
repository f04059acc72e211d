import { once } from "node:events";
import { createServer, type SecureVersion } from "node:tls";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { mockClient } from "aws-sdk-client-mock";
import { describe, expect, onTestFinished, test } from "vitest";
import { gatewayChecks, smokeTest } from "../../infra/first-hour/gateway.ts";
import { listChecks } from "../../infra/first-hour/lists.ts";
import { listeningPort } from "../../infra/local/machine/ports.ts";
import { type Fault, type TinyResponse, without } from "../helpers/smoke/faults.ts";
import { errorResponse, tinyServiceForEachTest } from "../helpers/smoke/tiny-service.ts";
import { contextOf, runCheck } from "./check-context.ts";

const service = tinyServiceForEachTest();

test("the first hour names what fails in the smoke test that it begins with", async () => {
  const dynamodb = mockClient(DynamoDBClient);
  dynamodb.onAnyCommand().resolves({});
  onTestFinished(() => dynamodb.restore());
  service.fault = without("Allow", 405);
  const lines = await runCheck(smokeTest, "smoke test", contextOf(service));
  expect(lines).toEqual([expect.stringMatching(/^FAIL .*405 and Allow .*header Allow is missing/)]);
});

describe("requests beyond the limit", () => {
  /** Turns every third request away. */
  const throttled = (headers: Record<string, string>, other?: TinyResponse): Fault => {
    let sent = 0;
    return (_request, right) =>
      sent++ % 3 === 0 ? errorResponse("too_many_requests", headers) : (other ?? right);
  };

  test.each<[string, Fault, RegExp]>([
    [
      "pass when they get 429 and Retry-After",
      throttled({ "Retry-After": "1" }),
      /^pass .*: \{"404":40,"429":20\}$/,
    ],
    ["fail when nothing limits them", (_request, right) => right, /^FAIL .*\{"404":60\}/],
    [
      "fail when the others get a status other than 404",
      throttled({ "Retry-After": "1" }, errorResponse("forbidden")),
      /^FAIL .*\{"403":40,"429":20\}/,
    ],
    ["fail when Retry-After is missing", throttled({}), /^FAIL .*header Retry-After is missing/],
    ["fail when the service fails", () => errorResponse("internal_error"), /^FAIL .*"500"/],
  ])("%s", async (_what, fault, expected) => {
    service.fault = fault;
    expect(await runCheck(gatewayChecks, "too many requests", contextOf(service))).toEqual([
      expect.stringMatching(expected),
    ]);
  });
});

describe("a mix of requests with and without a key", () => {
  const check = "do requests without";

  test("is reported as seen", async () => {
    const [line] = await runCheck(gatewayChecks, check, contextOf(service));
    expect(line).toMatch(/^seen .*: with a key.*: \{"404":20\}; .* without: \{"401":60\}$/);
  });

  test("is reported when requests without a key get an undocumented response", async () => {
    service.fault = ({ key }, right) => (key === undefined ? { ...right, status: 418 } : right);
    const [line] = await runCheck(gatewayChecks, check, contextOf(service));
    expect(line).toMatch(/^seen .*: status 418 is not documented/);
  });
});

test("the response to long headers is reported as seen", async () => {
  const [line] = await runCheck(gatewayChecks, "headers that are too long", contextOf(service));
  expect(line).toMatch(/^seen .*: 404, app/);
});

describe("the check of TLS versions", () => {
  const name = "TLS 1.1 is rejected, and TLS 1.2 is accepted";

  test.each<[title: string, SecureVersion, SecureVersion, expected: string]>([
    [
      "passes for a server of TLS 1.2 and 1.3",
      "TLSv1.2",
      "TLSv1.3",
      `pass ${name}: ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION`,
    ],
    [
      "fails for a server that accepts TLS 1.1",
      "TLSv1.1",
      "TLSv1.2",
      `FAIL ${name}: it speaks TLS 1.1`,
    ],
    ["fails for a server of TLS 1.3 alone", "TLSv1.3", "TLSv1.3", `FAIL ${name}: TLS 1.2: ERR_SSL`],
  ])("%s", async (_title, minVersion, maxVersion, expected) => {
    const pskCallback = () => Buffer.from("shared");
    const ciphers = "ALL:PSK:@SECLEVEL=0";
    const server = createServer({ ciphers, minVersion, maxVersion, pskCallback });
    const port = await listeningPort(server);
    onTestFinished(async () => void (await once(server.close(), "close")));
    const context = contextOf({ ...service, baseUrl: `https://localhost:${port}/v1` });
    const [line] = await runCheck(gatewayChecks, name, context);
    expect(line).toContain(expected);
  });
});

describe("the check of a client that reads slowly", () => {
  const chunk = `{"id":1},`.repeat(5000);
  const sends = (chunks: number, end: string): Fault => {
    return (_request, right) =>
      right.status === 200
        ? { ...right, body: ["[", ...Array(chunks).fill(chunk), `{"id":2}${end}`] }
        : right;
  };

  test.each<[string, Fault, string]>([
    ["passes when the list is whole", sends(60, "]"), "pass"],
    [
      "fails when the list is cut off",
      (_request, right) => (right.status === 200 ? "hang up" : right),
      "FAIL .*, then the body can't be",
    ],
    ["fails when the list has no end", sends(60, ""), "FAIL .* characters, then }"],
    [
      "fails when the list is too short to be read slowly",
      sends(1, "]"),
      "FAIL .* it was read before that",
    ],
  ])("%s", async (_what, fault, expected) => {
    service.fault = fault;
    const [line] = await runCheck(listChecks, "a client that reads slowly", contextOf(service));
    expect(line).toMatch(new RegExp(`^${expected}`));
  });
});
