import { expect, test, vi } from "vitest";
import { FunctionFailure } from "../../../infra/tools/local/lambda/execution-environment.ts";
import { beforeTests } from "../../helpers/before-tests.ts";
import { authorizer, invoking, startPets } from "./pets.ts";

/** Returns the policy that is the token; an error in the token is thrown. */
const authorize = vi.fn(async ({ authorizationToken = "" }) => {
  const returned = JSON.parse(authorizationToken);
  if (returned.error) throw new FunctionFailure(returned.error);
  return { returned };
});
const pets = beforeTests(async (running) =>
  running.use(
    await startPets(
      {
        "ANY /{proxy+}": { ...invoking("echo"), authorizer: authorizer("Keys") },
        "GET /other": { ...invoking("echo"), authorizer: authorizer("OtherKeys") },
      },
      { authorize },
    ),
  ),
);

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
  pets.call(path, { headers: { authorization: JSON.stringify(token) } });

test("an authorizer gets a request's token, method and path; its context goes on", async () => {
  const token = policy({ context: { s: "y" } });
  const { body } = await get(token, "/a%20b?c");
  expect(JSON.parse(body).event.requestContext.authorizer).toEqual({
    s: "y",
    principalId: "me",
  });
  expect(authorize.mock.lastCall?.[0]).toEqual({
    type: "TOKEN",
    authorizationToken: JSON.stringify(token),
    methodArn: `${arn}GET/a%20b`,
  });
});

test("an authorizer is asked once per token until the cached policy expires", async () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  authorize.mockClear();
  const [one, other] = [policy(), policy({ principalId: "ME" })];
  await get(one);
  vi.advanceTimersByTime(9_999);
  await get(one);
  expect(authorize).toHaveBeenCalledTimes(1);
  vi.advanceTimersByTime(1);
  for (const token of [one, other, one]) await get(token);
  expect(authorize).toHaveBeenCalledTimes(3);
  // Each authorizer has a cache of its own.
  await get(one, "/other");
  expect(authorize).toHaveBeenCalledTimes(4);
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
  ["a policy with a * inside", stating({ Resource: `${arn.replace("v1", "*")}*` })],
  ["a Deny", stating({ Effect: "Deny" })],
  ["an Allow with a condition", stating({ Condition: {} })],
])("%s is not supported, and the log says so", async (_, token) => {
  pets.log.length = 0;
  expect(await get(token)).toMatchObject({ status: 502 });
  expect(pets.log).toEqual([
    expect.stringMatching(/^The local gateway failed: ZodError: /),
  ]);
});
