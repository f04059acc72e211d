import { describe, expect, test } from "vitest";
import { createAuthorizers } from "../../../infra/local/gateway/authorizer.ts";
import { FunctionFailure } from "../../../infra/local/lambda/function-response.ts";

const arn = "arn:aws:execute-api:us-east-1:000000000000:api/v1/GET/pets";
const everything = "arn:aws:execute-api:us-east-1:000000000000:api/v1/*";

describe("a TOKEN authorizer", () => {
  const [allowing] = allow(everything).policyDocument.Statement;
  const denied = policy({ ...allowing }, { ...allowing, Effect: "Deny" });

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

  test("passes the context on as strings, with the principal", async () => {
    const response = { ...allow(everything), context: { n: 1, b: true, s: "x" } };
    expect(await authorizer(response).admit("t")).toEqual({ n: "1", b: "true", s: "x", principalId: "me" });
  });

  test("caches the policies of each authorizer for itself", async () => {
    const gate = authorizer(allow(everything));
    for (const id of ["Keys", "OtherKeys", "Keys"]) await gate.admit("t", id);
    expect(gate.asked).toEqual(["t", "t"]);
  });

  test.each([
    ["with ? for a character", allow(arn.replace("pets", "p?t?"))],
    ["with several actions and resources", allow(["other", arn], ["s3:*", "EXECUTE-API:*"])],
  ])("admits under a policy %s", async (_, response) => {
    expect(await authorizer(response).admit("t")).toEqual({ principalId: "me" });
  });

  test.each([
    ["no token", []],
    ["an empty token", [""]],
    ["a token that the expression does not match", ["x"]],
    ["two tokens", ["t", "t"]],
  ])("rejects %s without calling its function", async (_, values) => {
    const gate = authorizer(allow(everything));
    await expect(gate.admit(values)).rejects.toMatchObject({ type: "UNAUTHORIZED" });
    expect(gate.asked).toEqual([]);
  });

  test.each([
    ["a policy for another method", allow(arn.replace("GET", "PUT")), "ACCESS_DENIED"],
    ["a policy for the beginning of this method", allow(arn.slice(0, -1)), "ACCESS_DENIED"],
    ["a policy for another action", allow(everything, "s3:*"), "ACCESS_DENIED"],
    ["a policy for a path one character shorter", allow(`${arn.slice(0, -4)}???`), "ACCESS_DENIED"],
    ["a Deny beside an Allow", denied, "ACCESS_DENIED"],
    ["Unauthorized", new FunctionFailure("Unauthorized"), "UNAUTHORIZED"],
    ["any other failure", new FunctionFailure("unauthorized"), "AUTHORIZER_FAILURE"],
    ["a timeout", new FunctionFailure("Task timed out"), "AUTHORIZER_FAILURE"],
    ["nothing", null, "AUTHORIZER_CONFIGURATION_ERROR"],
    ["no principal", { ...allow(everything), principalId: undefined }, "AUTHORIZER_CONFIGURATION_ERROR"],
    ["a context that is not flat", { ...allow(everything), context: { a: {} } }, "AUTHORIZER_CONFIGURATION_ERROR"],
  ])("rejects when its function returns %s", async (_, response, type) => {
    await expect(authorizer(response).admit("t")).rejects.toMatchObject({ type });
  });

  test("does not cache that a token was rejected", async () => {
    const gate = authorizer(new FunctionFailure("Unauthorized"), allow(everything));
    await expect(gate.admit("t")).rejects.toMatchObject({ type: "UNAUTHORIZED" });
    expect(await gate.admit("t")).toEqual({ principalId: "me" });
  });
});

function policy(...Statement: object[]) {
  return { principalId: "me", policyDocument: { Statement } };
}

function allow(Resource: string | string[], Action: string | string[] = "execute-api:Invoke") {
  return policy({ Action, Effect: "Allow", Resource });
}

/**
 * An authorizer for every token without an x, even an empty one, whose function gives these responses, then repeats the
 * last.
 */
function authorizer(...responses: unknown[]) {
  const gate = {
    now: 0,
    asked: [] as unknown[],
    admit: (values: string | string[], id = "Keys") =>
      admit({ ...settings, id }, [values].flat(), arn, new AbortController()),
  };
  const settings = {
    functionName: "Authorize",
    header: "Authorization",
    validation: /^[^x]*$/,
    ttlSeconds: 10,
  };
  const host = {
    invoke: async (_name: string, event: unknown) => {
      gate.asked.push(Object(event).authorizationToken);
      const response = responses.length > 1 ? responses.shift() : responses[0];
      if (response instanceof Error) throw response;
      return { kind: "buffered" as const, payload: JSON.stringify(response) };
    },
  };
  const admit = createAuthorizers(host, { now: () => gate.now });
  return gate;
}
