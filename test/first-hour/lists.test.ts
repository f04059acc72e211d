import { FilterLogEventsCommand } from "@aws-sdk/client-cloudwatch-logs";
import { DeleteRolePolicyCommand, IAMClient, PutRolePolicyCommand } from "@aws-sdk/client-iam";
import { mockClient } from "aws-sdk-client-mock";
import { describe, expect, onTestFinished, test } from "vitest";
import { listChecks } from "../../infra/first-hour/lists.ts";
import { errorResponse, tinyServiceForEachTest } from "../helpers/smoke/tiny-service.ts";
import { contextOf, runCheck } from "./check-context.ts";
import { logged, mockLogs } from "./logged.ts";

const service = tinyServiceForEachTest();

test("a slow list's duration is read once its log line has had time to appear", async () => {
  const context = contextOf(service);
  const report = (durationMs: number) => ({
    message: JSON.stringify({ record: { metrics: { durationMs } } }),
  });
  mockLogs()
    .on(FilterLogEventsCommand)
    .callsFake(() => ({
      events: context.clock.now() < 30_000 ? [report(900)] : [report(900), report(61_000)],
    }));
  const [line] = await runCheck(listChecks, "how long", context);
  expect(line).toMatch(/^seen .* took 61000 ms$/);
});

describe("a list that loses its permission midway", () => {
  const cutOff = '{"message":{ $.message.event = "list_cut_off" }}';

  /** Runs the check. @returns its lines, and the calls to IAM. */
  async function runMidway(end: string, denialWorks: boolean, logLine: string) {
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
    const lines = await runCheck(listChecks, "fails midway", contextOf(service));
    const calls = iam.calls().map(({ args: [command] }) => command.constructor.name);
    return { lines, calls };
  }

  const rows: [title: string, end: string, denialWorks: boolean, logLine: string, line: RegExp][] =
    [
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
    ];

  test.each(rows)("%s", async (_title, end, denialWorks, logLine, line) => {
    const { lines } = await runMidway(end, denialWorks, logLine);
    expect(lines).toEqual([expect.stringMatching(line)]);
  });

  test.each(rows)("has it back afterwards: %s", async (_title, end, denialWorks, logLine) => {
    const { calls } = await runMidway(end, denialWorks, logLine);
    expect(calls).toEqual(["PutRolePolicyCommand", "DeleteRolePolicyCommand"]);
  });
});
