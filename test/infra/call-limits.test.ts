import { describe, expect, test } from "vitest";
import { callLimits, retryBaseDelay } from "../../shared/dynamodb.ts";
import { resources, templates } from "../helpers/synthesise.ts";

/** What a function needs to respond after its last attempt has failed, in milliseconds. */
const toRespond = 250;

describe.each(templates)("in %s", (_name, template) => {
  const functions = resources(template, "AWS::Lambda::Function");

  test.each(Object.entries({ Authorize: callLimits.authorize, CancelOrder: callLimits.cancel }))(
    "every attempt of %s's call fits into the function's timeout",
    (name, { connectionTimeout, requestTimeout, maxAttempts }) => {
      const pauses = Array.from({ length: maxAttempts - 1 }, (_, retry) => retryBaseDelay * 2 ** retry);
      const longest = pauses.reduce((sum, pause) => sum + pause, maxAttempts * (connectionTimeout + requestTimeout));
      const [, lambda] = functions.find(([id]) => id.startsWith(name)) ?? [];
      expect(longest + toRespond).toBeLessThanOrEqual(Number(lambda?.["Timeout"]) * 1000);
    },
  );
});
