import { describe, expect, test } from "vitest";
import { createAuthorizers } from "../../../infra/local/gateway/authorizer.ts";
import { FunctionFailure } from "../../../infra/local/lambda/function-response.ts";

const arn = "arn:aws:execute-api:us-east-1:000000000000:api/v1/GET/pets";
const everything = "arn:aws:execute-api:us-east-1:000000000000:api/v1/*";

describe("a TOKEN authorizer", () => {
  const [allowing] = allow(everything).policyDocument.Statement;

  test("calls its function once per token until the cached policy expires", async () => {
    const gate = authorizer(allow(everything));
    await gate.admit("t");
    gate.now = 9_999;
    await gate.admit("t");
    expect(gate.asked).toEqual(["t"]);
    gate.now = 10_000;
    for (const token of ["t", "T", "t", "T"]) await gate.admit(token);
    expect(gate.asked).toEqual(["t", "t", "T"]);
  });

  test("passes on the context and the principal", async () => {
    const response = { ...allow(everything), context: { s: "x" } };
    expect(await authorizer(response).admit("t")).toEqual({ s: "x", principalId: "me" });
  });

  test("caches each authorizer's policies separately", async () => {
    const gate = authorizer(allow(everything));
    for (const id of ["Keys", "OtherKeys", "Keys"]) await gate.admit("t", id);
    expect(gate.asked).toEqual(["t", "t"]);
  });

  test.each([
    ["no token", []],
    ["an empty token", [""]],
    ["a token that the expression does not match", ["x"]],
    ["two tokens", ["t", "t"]],
  ])("rejects %s without calling its function", async (_, values) => {
    const gate = authorizer(allow(everything));
    await expect(gate.admit(values)).rejects.toMatchObject({ message: "UNAUTHORIZED" });
    expect(gate.asked).toEqual([]);
  });

  test.each([
    ["ACCESS_DENIED", "a policy for other methods", allow(everything.replace("*", "PUT/*"))],
    ["UNAUTHORIZED", "the error Unauthorized", new FunctionFailure("Unauthorized")],
    ["AUTHORIZER_FAILURE", "any other error", new FunctionFailure("unauthorized")],
    ["AUTHORIZER_FAILURE", "a timeout", new FunctionFailure("Task timed out")],
  ])("rejects with %s when its function ends in %s", async (type, _, response) => {
    await expect(authorizer(response).admit("t")).rejects.toMatchObject({ message: type });
  });

  test.each([
    ["nothing", null],
    ["no principal", { ...allow(everything), principalId: undefined }],
    ["a context with a value that is not a string", { ...allow(everything), context: { a: {} } }],
    ["a policy for this method alone", allow(arn)],
    ["a policy with a * inside", allow(everything.replace("v1", "*"))],
    ["a policy for another action", policy({ ...allowing, Action: "s3:*" })],
    ["a Deny", policy({ ...allowing, Effect: "Deny" })],
    ["a Deny beside an Allow", policy(allowing, { ...allowing, Effect: "Deny" })],
    ["an Allow with a condition", policy({ ...allowing, Condition: {} })],
  ])("rejects %s, which the local stack does not support", async (_, response) => {
    await expect(authorizer(response).admit("t")).rejects.toMatchObject({ name: "ZodError" });
  });

  test("does not cache a rejection", async () => {
    const gate = authorizer(new FunctionFailure("Unauthorized"), allow(everything));
    await expect(gate.admit("t")).rejects.toMatchObject({ message: "UNAUTHORIZED" });
    expect(await gate.admit("t")).toEqual({ principalId: "me" });
  });
});

function policy(...Statement: (object | undefined)[]) {
  return { principalId: "me", policyDocument: { Version: "2012-10-17", Statement } };
}

function allow(Resource: string) {
  return policy({ Action: "execute-api:Invoke", Effect: "Allow", Resource });
}

/**
 * An authorizer for every token without an x, even an empty one. Its function responds with these
 * in turn, then repeats the last.
 */
function authorizer(...responses: unknown[]) {
  const gate = {
    now: 0,
    asked: [] as unknown[],
    admit: (values: string | string[], id = "Keys") =>
      admit({ ...settings, id }, [values].flat(), arn, new AbortController()),
  };
  const settings = {
    Type: "TOKEN" as const,
    AuthorizerUri: "Authorize",
    IdentitySource: "Authorization",
    IdentityValidationExpression: /^[^x]*$/,
    AuthorizerResultTtlInSeconds: 10,
  };
  const host = {
    invoke: async (_name: string, event: unknown) => {
      gate.asked.push(Object(event).authorizationToken);
      const response = responses.length > 1 ? responses.shift() : responses[0];
      if (response instanceof Error) throw response;
      return { kind: "buffered" as const, payload: JSON.stringify(response) };
    },
  };
  const admit = createAuthorizers(host, { now: () => gate.now }, 29_000);
  return gate;
}
