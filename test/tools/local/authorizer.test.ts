import { afterAll, expect, onTestFinished, test, vi } from "vitest";
import { ownLines } from "../../helpers/trouble.ts";
import { invoking, startPets } from "./pets.ts";

const { call, log, stop } = await startPets({
  "ANY /{proxy+}": { ...invoking("echo"), authorizer: "Keys" },
  "GET /other": { ...invoking("echo"), authorizer: "OtherKeys" },
});
afterAll(stop);

const arn = "arn:aws:execute-api:us-east-1:000000000000:Api/v1/";
const allowing = { Action: "execute-api:Invoke", Effect: "Allow", Resource: `${arn}*` };
const documentOf = (...Statement: object[]) => ({ Version: "2012-10-17", Statement });
const policy = (changes: object = {}) => ({
  principalId: "me",
  policyDocument: documentOf(allowing),
  ...changes,
});
const stating = (changes: object) =>
  policy({ policyDocument: documentOf({ ...allowing, ...changes }) });
const get = (token: unknown, path = "/pets") =>
  call(path, { headers: { authorization: JSON.stringify(token) } });
const callerOf = async (token: unknown, path?: string) =>
  JSON.parse((await get(token, path)).body).event.requestContext.authorizer;
/** How often the authorizer's function had been asked when it returned this token's policy. */
const asked = async (token: unknown, path?: string) =>
  Number((await callerOf(token, path)).asked);

test("an authorizer gets a request's token, method and path; its context goes on", async () => {
  const token = policy({ context: { s: "y" } });
  const { asked: _, event, ...caller } = await callerOf(token, "/a%20b?c");
  expect(caller).toEqual({ s: "y", principalId: "me" });
  expect(JSON.parse(event)).toEqual({
    type: "TOKEN",
    authorizationToken: JSON.stringify(token),
    methodArn: `${arn}GET/a%20b`,
  });
});

test("an authorizer is asked once per token until the cached policy expires", async () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  onTestFinished(() => void vi.useRealTimers());
  const [one, other] = [policy(), policy({ principalId: "ME" })];
  const first = await asked(one);
  vi.advanceTimersByTime(9_999);
  expect(await asked(one)).toBe(first);
  vi.advanceTimersByTime(1);
  const again = [await asked(one), await asked(other), await asked(one)];
  expect(again).toEqual([first + 1, first + 2, first + 1]);
  // Each authorizer has a cache of its own.
  expect(await asked(one, "/other")).toBe(first + 3);
});

test.each([
  ["a policy for other methods", stating({ Resource: `${arn}PUT/*` }), 403],
  ["the error Unauthorized", { error: "Unauthorized" }, 401],
  ["any other error", { error: "unauthorized" }, 501],
])("%s admits no one, each time", async (_, token, status) => {
  for (const _ of ["first", "second"]) expect(await get(token)).toMatchObject({ status });
});

test.each([
  ["no principal", policy({ principalId: undefined })],
  ["a policy for this method alone", stating({ Resource: `${arn}GET/pets` })],
  ["a policy with a * inside", stating({ Resource: arn.replace("v1", "*") })],
  ["a Deny", stating({ Effect: "Deny" })],
  ["an Allow with a condition", stating({ Condition: {} })],
])("%s is not supported, and the log says so", async (_, token) => {
  log.length = 0;
  expect(await get(token)).toMatchObject({ status: 502 });
  const line = expect.stringMatching(/^The local gateway failed: ZodError: /);
  expect(ownLines(log)).toEqual([line]);
});
