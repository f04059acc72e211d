import assert from "node:assert/strict";
import { IAM } from "@aws-sdk/client-iam";
import { open, reason, send } from "../smoke/client.ts";
import { expectError } from "../smoke/expect-response.ts";
import { logLines } from "./logs.ts";
import { type CheckContext, type Checks, change, eventually, idsOf } from "./run-checks.ts";

const list = { method: "GET", path: "/store/orders" };
const denyScan = {
  Version: "2012-10-17",
  Statement: [{ Effect: "Deny", Action: "dynamodb:Scan", Resource: "*" }],
};

/**
 * They need a list longer than what the gateway and this machine buffer: 300,000 orders are 30 MB.
 */
export const listChecks: Checks = {
  "a client that reads slowly for a minute gets the whole list": async (context) => {
    const { now } = context.clock;
    const minuteEnd = now() + 60_000;
    const { length, end } = await readSlowly(context, async () => now() >= minuteEnd);
    assert(end === "]", `${length} characters, then ${end}`);
    assert(now() >= minuteEnd, `it was read before that, with ${length} characters`);
    return `${length} characters`;
  },
  "how long did the slow client hold the function?": async (context) => {
    // The log already has lines of shorter lists, so finding one is no sign that its own is there.
    await context.clock.pause(60_000);
    const reports = await eventually(context, () =>
      listLog(context, '{ $.type = "platform.report" }', 300_000),
    );
    const durations = reports.map((line): number => JSON.parse(line).record.metrics.durationMs);
    return `the longest invocation of the last five minutes took ${Math.max(...durations)} ms`;
  },
  "a list that fails midway never ends with ], is logged as list_cut_off, and the next gets 500":
    async (context) => {
      const begun = Date.now();
      let denied: Promise<void> | undefined;
      const { length, end } = await readSlowly(context, async () => {
        denied ??= denyLists(context);
        await denied;
        return !(await succeeds(context));
      });
      assert(end !== "]", `it was whole, with ${length} characters`);
      await eventually(context, () =>
        listLog(context, '{ $.message.event = "list_cut_off" }', Date.now() - begun),
      );
      return `${length} characters, then ${end}`;
    },
};

/** Takes the list's permission away until the check ends. */
async function denyLists(context: CheckContext): Promise<void> {
  const iam = new IAM();
  const [role] = idsOf(context, "AWS::IAM::Role", "ListOrdersRole");
  const policy = { RoleName: role, PolicyName: "first-hour" };
  const deny = () => iam.putRolePolicy({ ...policy, PolicyDocument: JSON.stringify(denyScan) });
  const allow = async () => {
    await iam.deleteRolePolicy(policy);
    await eventually(context, async () => assert(await succeeds(context), "lists still fail"));
  };
  await change(context, `the role ${role}: delete its policy first-hour`, deny, allow);
}

/**
 * Lines of the last milliseconds in the log of the function that lists. @throws AssertionError when
 * there is none.
 */
async function listLog(
  context: CheckContext,
  filterPattern: string,
  milliseconds: number,
): Promise<string[]> {
  const [group] = idsOf(context, "AWS::Logs::LogGroup", "ListOrdersLog");
  const lines = await logLines(group, filterPattern, Date.now() - milliseconds);
  assert(lines.length > 0, `no line in ${group} matches ${filterPattern}`);
  return lines;
}

/** Whether a list succeeds. @throws Error when it fails with anything but the documented 500. */
async function succeeds(context: CheckContext): Promise<boolean> {
  const response = await send(context, list);
  if (response.status !== 200) expectError(response, "internal_error");
  return response.status === 200;
}

/**
 * Reads a list: a chunk of at most 64 KB every three seconds until `isEnough`, then the rest.
 *
 * @returns its length, and its last character or the reason why it was cut off.
 */
async function readSlowly(
  context: CheckContext,
  isEnough: () => Promise<boolean>,
): Promise<{ length: number; end: string }> {
  const { text } = await open(context, { ...list, headers: { "accept-encoding": "identity" } });
  let length = 0;
  let end = "";
  let isSlow = true;
  try {
    for await (const chunk of text) {
      length += chunk.length;
      end = chunk.slice(-1);
      isSlow &&= !(await isEnough());
      if (isSlow) await context.clock.pause(3000);
    }
  } catch (error) {
    end = reason(error);
  }
  return { length, end };
}
