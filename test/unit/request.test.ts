import middy from "@middy/core";
import type { APIGatewayProxyEvent } from "aws-lambda";
import { expect, test } from "vitest";
import { readCaller } from "../../shared/request.ts";
import { invoke, proxyEvent } from "../helpers/lambda.ts";

const callerOf = middy<APIGatewayProxyEvent, string>()
  .use(readCaller)
  .handler((_event, { keyId }) => keyId);

test("the caller is the key id that the authorizer passed", async () => {
  expect(await invoke(callerOf, proxyEvent({}))).toBe("key_1");
});

test.each([undefined, null, {}, { keyId: 7 }, { keyId: "" }])(
  "a request without a key id fails (%j)",
  async (authorizer) => {
    const { requestContext } = proxyEvent({});
    const event = proxyEvent({ requestContext: { ...requestContext, authorizer } });
    await expect(invoke(callerOf, event)).rejects.toMatchObject({
      code: "internal_error",
      cause: { message: "The gateway passed no key id" },
    });
  },
);
