import { afterAll, expect, test } from "vitest";
import { ownLines } from "../helpers/trouble.ts";
import { invoking, startPets } from "./pets.ts";

let now = 0;
const { call, log, stop } = await startPets(
  {
    "ANY /{proxy+}": { ...invoking("echo"), authorizer: "Keys" },
    "GET /other": { ...invoking("echo"), authorizer: "OtherKeys" },
  },
  { clock: { now: () => now } },
);
afterAll(stop);

const arn = "arn:aws:execute-api:us-east-1:000000000000:Api/v1/";
const allowing = { Action: "execute-api:Invoke", Effect: "Allow", Resource: `${arn}*` };
const policy = (Statement: unknown = [allowing], changes: object = {}) => ({
  principalId: "me",
  policyDocument: { Version: "2012-10-17", Statement },
  ...changes,
});
const get = (token: unknown, path = "/pets") =>
  call(path, { headers: { authorization: JSON.stringify(token) } });
/** What a function is told about a caller. */
const callerOf = async (token: unknown, path?: string) =>
  JSON.parse((await get(token, path)).body).event.requestContext.authorizer;
/** How often the authorizer's function had been asked when it returned this token's policy. */
const asked = async (token: unknown, path?: string) =>
  Number((await callerOf(token, path)).asked);

test("an authorizer gets a request's token, method and path; its context goes on", async () => {
  const token = policy([allowing], { context: { s: "y" } });
  const { asked: _, event, ...caller } = await callerOf(token, "/a%20b?c");
  expect(caller).toEqual({ s: "y", principalId: "me" });
  expect(JSON.parse(event)).toEqual({
    type: "TOKEN",
    authorizationToken: JSON.stringify(token),
    methodArn: `${arn}GET/a%20b`,
  });
});

test("an authorizer is asked once per token until the cached policy expires", async () => {
  const [one, other] = [policy(), policy([allowing], { principalId: "ME" })];
  const first = await asked(one);
  now += 9_999;
  expect(await asked(one)).toBe(first);
  now += 1;
  const again = [await asked(one), await asked(other), await asked(one)];
  expect(again).toEqual([first + 1, first + 2, first + 1]);
  // Each authorizer has a cache of its own.
  expect(await asked(one, "/other")).toBe(first + 3);
});

test.each([
  ["no token", {}],
  ["an empty token", { authorization: "" }],
  ["a token that the expression does not match", { authorization: "!" }],
  ["two tokens", { authorization: [JSON.stringify(policy()), JSON.stringify(policy())] }],
])("%s is rejected without asking the function", async (_, headers) => {
  const before = await asked(policy([allowing], { principalId: _ }));
  expect(await call("/pets", { headers })).toMatchObject({
    status: 401,
    body: "UNAUTHORIZED",
  });
  expect(await asked(policy([allowing], { principalId: `${_}, later` }))).toBe(before + 1);
});

test("a function's result that admits no one is a failure, not cached, and logged if unsupported", async () => {
  const lines = [];
  for (const [what, token] of Object.entries({
    "a policy for other methods": policy([{ ...allowing, Resource: `${arn}PUT/*` }]),
    "the error Unauthorized": { error: "Unauthorized" },
    "any other error": { error: "unauthorized" },
    nothing: null,
    "no principal": policy([allowing], { principalId: undefined }),
    "a context with a value that is not a string": policy([allowing], {
      context: { a: {} },
    }),
    "a policy for this method alone": policy([{ ...allowing, Resource: `${arn}GET/pets` }]),
    "a policy with a * inside": policy([{ ...allowing, Resource: arn.replace("v1", "*") }]),
    "a policy for another action": policy([{ ...allowing, Action: "s3:*" }]),
    "a Deny": policy([{ ...allowing, Effect: "Deny" }]),
    "a Deny beside an Allow": policy([allowing, { ...allowing, Effect: "Deny" }]),
    "an Allow with a condition": policy([{ ...allowing, Condition: {} }]),
  })) {
    log.length = 0;
    const [first, again] = [await get(token), await get(token)];
    expect(again).toMatchObject({ status: first.status, body: first.body });
    const [, failure = "not logged"] = ownLines(log).map((line) => line.split("\n")[0]);
    lines.push(`${what}: ${first.status} ${first.body}, ${failure}`);
  }
  expect(lines.join("\n")).toMatchInlineSnapshot(`
    "a policy for other methods: 500 ACCESS_DENIED, The template has no gateway response ACCESS_DENIED with a status
    the error Unauthorized: 401 UNAUTHORIZED, not logged
    any other error: 501 AUTHORIZER_FAILURE, not logged
    nothing: 502 INTEGRATION_FAILURE, The local gateway failed: ZodError: [
    no principal: 502 INTEGRATION_FAILURE, The local gateway failed: ZodError: [
    a context with a value that is not a string: 502 INTEGRATION_FAILURE, The local gateway failed: ZodError: [
    a policy for this method alone: 502 INTEGRATION_FAILURE, The local gateway failed: ZodError: [
    a policy with a * inside: 502 INTEGRATION_FAILURE, The local gateway failed: ZodError: [
    a policy for another action: 502 INTEGRATION_FAILURE, The local gateway failed: ZodError: [
    a Deny: 502 INTEGRATION_FAILURE, The local gateway failed: ZodError: [
    a Deny beside an Allow: 502 INTEGRATION_FAILURE, The local gateway failed: ZodError: [
    an Allow with a condition: 502 INTEGRATION_FAILURE, The local gateway failed: ZodError: ["
  `);
});
