import { describe, expect, test } from "vitest";
import { Authorizers } from "../../infra/local/gateway/authorizer.ts";
import { FunctionFailure } from "../../infra/local/lambda/function-response.ts";

const arn = "arn:aws:execute-api:us-east-1:000000000000:api/v1/GET/pets";
const everything = "arn:aws:execute-api:us-east-1:000000000000:api/v1/*";

describe("a TOKEN authorizer", () => {
  test("asks its function once for a token until that is old", async () => {
    const gate = authorizer([allow(everything)], { ttlSeconds: 10 });
    await gate.admit("t");
    gate.now = 9_999;
    await gate.admit("t");
    expect(gate.asked).toEqual(["t"]);
    gate.now = 10_000;
    await gate.admit("t");
    await gate.admit("u");
    expect(gate.asked).toEqual(["t", "t", "u"]);
  });

  test("asks each time when nothing may be cached", async () => {
    const gate = authorizer([allow(everything)], { ttlSeconds: 0 });
    await gate.admit("t");
    await gate.admit("t");
    expect(gate.asked).toEqual(["t", "t"]);
  });

  test("gives the context on as texts, with the principal", async () => {
    const answer = { ...allow(everything), context: { n: 1, b: true, s: "x" } };
    expect(await authorizer([answer]).admit("t")).toEqual({ n: "1", b: "true", s: "x", principalId: "me" });
  });

  test.each([
    ["no token", []],
    ["an empty one", [""]],
    ["one that the expression does not match", ["x"]],
    ["two of them", ["t", "t"]],
  ])("refuses %s without asking its function", async (_, values) => {
    const gate = authorizer([allow(everything)]);
    await expect(gate.admit(...values)).rejects.toMatchObject({ type: "UNAUTHORIZED" });
    expect(gate.asked).toEqual([]);
  });

  test.each([
    ["a policy for another method", allow(arn.replace("GET", "PUT")), "ACCESS_DENIED"],
    ["a policy for the beginning of this method", allow(arn.slice(0, -1)), "ACCESS_DENIED"],
    ["a policy for another action", allow(everything, "s3:*"), "ACCESS_DENIED"],
    ["a denial beside an admission", denyToo(allow(everything)), "ACCESS_DENIED"],
    ["Unauthorized", new FunctionFailure("Error", "Unauthorized"), "UNAUTHORIZED"],
    ["any other failure", new FunctionFailure("Error", "unauthorized"), "AUTHORIZER_FAILURE"],
    ["a timeout", new FunctionFailure("Sandbox.Timedout", "Task timed out"), "AUTHORIZER_FAILURE"],
    ["nothing", null, "AUTHORIZER_CONFIGURATION_ERROR"],
    ["no principal", { ...allow(everything), principalId: undefined }, "AUTHORIZER_CONFIGURATION_ERROR"],
    ["a context that is not flat", { ...allow(everything), context: { a: {} } }, "AUTHORIZER_CONFIGURATION_ERROR"],
  ])("refuses when its function answers %s", async (_, answer, type) => {
    await expect(authorizer([answer]).admit("t")).rejects.toMatchObject({ type });
  });

  test("does not remember that a token was refused", async () => {
    const gate = authorizer([new FunctionFailure("Error", "Unauthorized"), allow(everything)]);
    await expect(gate.admit("t")).rejects.toMatchObject({ type: "UNAUTHORIZED" });
    expect(await gate.admit("t")).toEqual({ principalId: "me" });
  });
});

interface PolicyAnswer {
  principalId: string | undefined;
  policyDocument: { Statement: { Action: string; Effect: string; Resource: string }[] };
}

function allow(Resource: string, Action = "execute-api:Invoke"): PolicyAnswer {
  return { principalId: "me", policyDocument: { Statement: [{ Action, Effect: "Allow", Resource }] } };
}

function denyToo({ principalId, policyDocument }: PolicyAnswer): PolicyAnswer {
  const denied = policyDocument.Statement.map((statement) => ({ ...statement, Effect: "Deny" }));
  return { principalId, policyDocument: { Statement: [...policyDocument.Statement, ...denied] } };
}

/** An authorizer for the tokens `t` and `u` whose function gives these answers, the last one again and again. */
function authorizer(answers: unknown[], { ttlSeconds = 300 } = {}) {
  const gate = {
    now: 0,
    asked: [] as unknown[],
    admit: (...values: string[]) => authorizers.admit(settings, values, arn, new AbortController()),
  };
  const settings = { functionName: "Authorize", header: "Authorization", validation: /^[tu]$/, ttlSeconds };
  const host = {
    invoke: async (_name: string, event: unknown) => {
      if (typeof event === "object" && event !== null && "authorizationToken" in event)
        gate.asked.push(event.authorizationToken);
      const answer = answers.length > 1 ? answers.shift() : answers[0];
      if (answer instanceof Error) throw answer;
      return { kind: "buffered" as const, payload: JSON.stringify(answer) };
    },
    pids: () => [],
    stop: async () => {},
  };
  const authorizers = new Authorizers(host, () => gate.now);
  return gate;
}
