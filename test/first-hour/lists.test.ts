import { FilterLogEventsCommand } from "@aws-sdk/client-cloudwatch-logs";
import { DeleteRolePolicyCommand, IAMClient, PutRolePolicyCommand } from "@aws-sdk/client-iam";
import { mockClient } from "aws-sdk-client-mock";
import { describe, expect, onTestFinished, test } from "vitest";
import { lists } from "../../infra/first-hour/lists.ts";
import { errorResponse, tinyServiceForEachTest } from "../helpers/smoke/tiny-service.ts";
import { logged, mockLogs } from "./logged.ts";
import { runCheck, stageOf } from "./stage.ts";

const service = tinyServiceForEachTest();

test("how long a slow list took is asked once its line had time to appear", async () => {
  const stage = stageOf(service);
  const report = (durationMs: number) => ({
    message: JSON.stringify({ record: { metrics: { durationMs } } }),
  });
  mockLogs()
    .on(FilterLogEventsCommand)
    .callsFake(() => ({
      events: stage.clock.now() < 30_000 ? [report(900)] : [report(900), report(61_000)],
    }));
  const [line] = await runCheck(lists, "how long", stage);
  expect(line).toMatch(/^seen .* took 61000 ms$/);
});

describe("a list that loses its permission midway", () => {
  const cutOff = '{"message":{ $.message.event = "list_cut_off" }}';

  test.each<[what: string, end: string, denialWorks: boolean, logLine: string, expected: RegExp]>([
    [
      "passes when it has no end, is logged, and the next gets 500",
      "",
      true,
      cutOff,
      /^pass .*: 3 characters, then }$/,
    ],
    ["fails when it is whole", "]", true, cutOff, /^FAIL .*it was whole, with 4 characters/],
    ["fails when it keeps its permission", "]", false, cutOff, /^FAIL .*it was whole/],
    ["fails when it is not logged", "", true, "", /^FAIL .*no line in ListOrdersLog matches/],
  ])("%s", async (_what, end, denialWorks, logLine, expected) => {
    logged(logLine);
    const iam = mockClient(IAMClient);
    onTestFinished(() => iam.restore());
    const denied = Promise.withResolvers<void>();
    let isDenied = false;
    iam.on(PutRolePolicyCommand).callsFake(() => {
      isDenied = denialWorks;
      denied.resolve();
    });
    iam.on(DeleteRolePolicyCommand).callsFake(() => {
      isDenied = false;
    });
    async function* body() {
      yield Buffer.from("[");
      await denied.promise;
      yield Buffer.from(`{}${end}`);
    }
    service.fault = ({ headers }, right) => {
      if (right.status !== 200) return right;
      if (isDenied) return errorResponse("internal_error");
      return headers["accept-encoding"] === "identity" ? { ...right, body: body() } : right;
    };
    expect(await runCheck(lists, "fails midway", stageOf(service))).toEqual([
      expect.stringMatching(expected),
    ]);
    // Whatever came of it, the function gets its permission back.
    const calls = iam.calls().map(({ args: [command] }) => command.constructor.name);
    expect(calls).toEqual(["PutRolePolicyCommand", "DeleteRolePolicyCommand"]);
  });
});
