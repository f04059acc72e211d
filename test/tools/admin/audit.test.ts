import { writeFile } from "node:fs/promises";
import { expect, test, vi } from "vitest";
import { logOutcome } from "../../../shared/log.ts";
import { createTerminal } from "./terminal.ts";

const { play, playWatched } = await createTerminal();
const key = "key_1111111111111111";
const loggedAt = "2026-11-20T08:00:00.123Z";
const before = "2026-11-20T08:00:00.122Z";

/** A line as Lambda writes it of what the function logs. */
function logged(orderId: string, requestId = "request_1") {
  using info = vi.spyOn(console, "info").mockReturnValue();
  logOutcome("order_cancelled", { keyId: key, orderId });
  const [message] = info.mock.lastCall ?? [];
  return JSON.stringify({ timestamp: loggedAt, level: "INFO", requestId, message });
}
/** As `aws logs filter-log-events --output text` prints them. */
const saveLog = (lines: string[]) =>
  writeFile("cancelled.log", lines.map((line) => `${line}\n\n`).join(""));

const cancelled = (id: number, changes = {}) => {
  const cancellation = {
    cancelledAt: before,
    cancelledBy: key,
    cancellationId: "request_1",
  };
  return `$ put ${JSON.stringify({ id, status: "cancelled", ...cancellation, ...changes })}`;
};
const reinstated = (reinstatedAt: string) => ({
  otherAttributes: { reinstatedAt: { S: reinstatedAt } },
});

test("an audit names each acknowledged cancellation that the table doesn't show", async () => {
  await saveLog([
    "START",
    logged("2").replace("order_cancelled", "cancel_rejected"),
    ...["1", "2", "3", "4", "5", "-6", "9007199254740993"].map((id) => logged(id)),
    logged("-6", "request_2"),
  ]);
  const acknowledged = `${key} cancelled it at ${loggedAt} (request_1)`;
  const json = `"cancelledBy":"${key}","cancellationId":"request_1","loggedAt":"${loggedAt}"`;
  const { sent } = await playWatched`
    ${cancelled(1)}
    ${cancelled(3, { status: "pending" })}
    $ put {"id":{"N":"4"},"status":{"S":"held\u001b"},"cancellationId":{"S":"request_1"}}
    $ put {"id":5,"status":null}
    ${cancelled(-6, { cancellationId: "request_2" })}
    $ put {"id":9007199254740993,"status":"shipped"}
    $ orders audit --log cancelled.log
    Order 2 is missing, but ${acknowledged}
    Order 3 is pending, but ${acknowledged}
    Order 4 is held\u{1b}, but ${acknowledged}
    Order 5 is without a status, but ${acknowledged}
    Order -6 is cancelled by request request_2, but ${acknowledged}
    Order 9007199254740993 is shipped, but ${acknowledged}
    ! 8 cancellations: 2 stand, 6 undone, 0 reinstated since and not judged
    exit 1
    $ orders audit --log - --json
    > ${logged("9007199254740993")}
    > ${logged("2")}
    {"id":9007199254740993,${json},"order":{"id":9007199254740993,"status":"shipped"}}
    {"id":2,${json},"order":null}
    ! 2 cancellations: 0 stand, 2 undone, 0 reinstated since and not judged
    exit 1
  `;
  const reads = sent.flatMap(({ RequestItems }) => RequestItems?.ORDERS ?? []);
  expect(reads.map(({ ConsistentRead }) => ConsistentRead)).toEqual([true, true]);
});

test("an audit doesn't judge a cancellation whose order was reinstated since", () => play`
  ${cancelled(1, { status: "shipped", ...reinstated(loggedAt) })}
  ${cancelled(2, { status: "shipped", ...reinstated(before) })}
  ${cancelled(3, reinstated(before))}
  $ orders audit --log -
  > ${logged("1")}
  > ${logged("2")}
  > ${logged("3")}
  Order 2 is shipped, but …
  ! 3 cancellations: 1 stand, 1 undone, 1 reinstated since and not judged
  exit 1
  $ orders audit --log -
  > ${logged("1")}
  > ${logged("3")}
  ! 2 cancellations: 1 stand, 0 undone, 1 reinstated since and not judged
`);

test.each([
  ["is cut off", logged("1").slice(0, -10)],
  ["is an event in JSON of its own", JSON.stringify({ message: logged("1") })],
  ["has no order id", logged("")],
  ["has no request id", logged("1", "")],
  ["has a time that is none", logged("1").replace(loggedAt, "yesterday")],
])("an audit stops at a line that %s", async (_, line) => {
  await saveLog([...Array(100).fill(logged("1")), line, logged("2")]);
  await play`
    ${cancelled(1)}
    $ orders audit --log cancelled.log
    ! … cancellations: … stand, 0 undone, 0 reinstated since and not judged
    ! cancelled.log:201: not a whole line of the function's log
    exit 1
  `;
});

// The command before it may have failed.
test("an audit of a log without cancellations fails", () => play`
  $ orders audit --log -
  ! standard input has no cancellations
  exit 1
  $ orders audit --log none.log
  ! none.log: no such file or directory
  exit 1
`);
