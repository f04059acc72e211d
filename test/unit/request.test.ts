import { expect, test } from "vitest";
import { callerOf } from "../../shared/request.ts";
import { proxyEvent } from "../helpers/lambda.ts";

test("the caller is the key id that the authorizer passed", () => {
  expect(callerOf(proxyEvent({}))).toBe("key_1");
});

test.each([undefined, null, {}, { keyId: 7 }, { keyId: "" }])("a request without a key id fails (%j)", (authorizer) => {
  const { requestContext } = proxyEvent({});
  const event = proxyEvent({ requestContext: { ...requestContext, authorizer } });
  expect(() => callerOf(event)).toThrow(
    expect.objectContaining({ code: "internal_error", cause: new Error("The gateway passed no key id") }),
  );
});
