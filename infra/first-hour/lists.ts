import assert from "node:assert/strict";
import { IAM } from "@aws-sdk/client-iam";
import { open, reason, send } from "../smoke/client.ts";
import { expectError } from "../smoke/response-problems.ts";
import { logLines } from "./logs.ts";
import { type Checks, change, eventually, idsOf, type Stage } from "./stage.ts";

const list = { method: "GET", path: "/store/orders" };
const noScan = {
  Version: "2012-10-17",
  Statement: [{ Effect: "Deny", Action: "dynamodb:Scan", Resource: "*" }],
};

/**
 * They need a list that is longer than what the gateway and this machine buffer: 300,000 orders
 * have 30 MB.
 */
export const lists: Checks = {
  "a client that reads slowly for a minute gets the whole list": async (stage) => {
    const { now } = stage.clock;
    const enough = now() + 60_000;
    const { length, end } = await readSlowly(stage, async () => now() >= enough);
    assert(end === "]", `${length} characters, then ${end}`);
    assert(now() >= enough, `it was read before that, with ${length} characters`);
    return `${length} characters`;
  },
  "how long did it hold the function?": async (stage) => {
    // Until its own line is there: those of shorter lists are already.
    await stage.clock.pause(60_000);
    const reports = await eventually(stage, () =>
      listLog(stage, '{ $.type = "platform.report" }', 300_000),
    );
    const durations = reports.map((line): number => JSON.parse(line).record.metrics.durationMs);
    return `the longest invocation of the last five minutes took ${Math.max(...durations)} ms`;
  },
  "a list that fails midway never ends with ], is logged as list_cut_off, and the next gets 500":
    async (stage) => {
      const begun = Date.now();
      const iam = new IAM();
      const policy = {
        RoleName: idsOf(stage, "AWS::IAM::Role", "ListOrdersRole")[0],
        PolicyName: "first-hour",
      };
      const deny = () => iam.putRolePolicy({ ...policy, PolicyDocument: JSON.stringify(noScan) });
      const allow = async () => {
        await iam.deleteRolePolicy(policy);
        await eventually(stage, async () => assert(await succeeds(stage), "lists still fail"));
      };
      let denied: Promise<void> | undefined;
      const { length, end } = await readSlowly(stage, async () => {
        denied ??= change(
          stage,
          `the role ${policy.RoleName}: delete its policy first-hour`,
          deny,
          allow,
        );
        await denied;
        return !(await succeeds(stage));
      });
      assert(end !== "]", `it was whole, with ${length} characters`);
      await eventually(stage, () =>
        listLog(stage, '{ $.message.event = "list_cut_off" }', Date.now() - begun),
      );
      return `${length} characters, then ${end}`;
    },
};

/**
 * The lines of the last milliseconds in the log of the function that lists. @throws AssertionError
 * without any.
 */
async function listLog(
  stage: Stage,
  filterPattern: string,
  milliseconds: number,
): Promise<string[]> {
  const [group] = idsOf(stage, "AWS::Logs::LogGroup", "ListOrdersLog");
  const lines = await logLines(group, filterPattern, Date.now() - milliseconds);
  assert(lines.length > 0, `no line in ${group} matches ${filterPattern}`);
  return lines;
}

/** Whether a list succeeds. @throws Error unless it otherwise gets the documented 500. */
async function succeeds(stage: Stage): Promise<boolean> {
  const response = await send(stage, list);
  if (response.status !== 200) expectError(response, "internal_error");
  return response.status === 200;
}

/** Reads a list, at most 64 KB every three seconds until that is enough, then the rest. */
async function readSlowly(
  stage: Stage,
  enough: () => Promise<boolean>,
): Promise<{ length: number; end: string }> {
  const { text } = await open(stage, { ...list, headers: { "accept-encoding": "identity" } });
  let length = 0;
  let end = "";
  let isSlow = true;
  try {
    for await (const chunk of text) {
      length += chunk.length;
      end = chunk.slice(-1);
      isSlow &&= !(await enough());
      if (isSlow) await stage.clock.pause(3000);
    }
  } catch (error) {
    end = reason(error);
  }
  return { length, end };
}
