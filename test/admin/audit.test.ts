import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Behaviour, onEvery, respond } from "../helpers/faults/fault-proxy.ts";
import { rejectedAs } from "../helpers/faults/faults.ts";
import { createTerminal } from "./terminal.ts";

const { folder, play, playIn, put, tables } = await createTerminal();
const key = "key_1111111111111111";
const loggedAt = "2026-11-20T08:00:00.123Z";
const before = "2026-11-20T08:00:00.122Z";

/** The line that the function logs about an order's cancellation. */
const logged = (orderId: string, requestId = "request_1") =>
  JSON.stringify({
    timestamp: loggedAt,
    level: "INFO",
    requestId,
    message: { event: "order_cancelled", keyId: key, orderId },
  });
/** As `aws logs filter-log-events --output text` prints them. */
const saveLog = (lines: string[]) =>
  writeFile(join(folder, "cancelled.log"), lines.map((line) => `${line}\n\n`).join(""));

/** The order that this cancellation leaves, with these changes. */
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
  await play`
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
  ["has a time before it", `${loggedAt} ${logged("1")}`],
  ["has no order id", logged("")],
  ["has a time that is none", logged("1").replace(loggedAt, "yesterday")],
])("an audit stops at a line that %s", async (_, line) => {
  await saveLog([logged("1"), line, logged("2")]);
  await play`
    ${cancelled(1)}
    $ orders audit --log cancelled.log
    ! 0 cancellations: 0 stand, 0 undone, 0 reinstated since and not judged
    ! cancelled.log:3: not a whole line of the function's log. Run it again for the rest.
    exit 1
  `;
});

// The command before it may have failed.
test("an audit of a log without cancellations fails", async () => {
  await saveLog([]);
  await play`
    $ orders audit --log cancelled.log
    ! cancelled.log has no cancellations
    exit 1
  `;
});

const many = Array.from({ length: 250 }, (_, id) => id);

test("an audit reads a hundred orders at a time, and again what was left out", async () => {
  const thirty: Behaviour = async ({ forward, input, response }) => {
    const { orders } = tables;
    const { Keys, ConsistentRead } = JSON.parse(input).RequestItems[orders];
    const from = (start: number, end?: number) => ({
      [orders]: { ConsistentRead, Keys: Keys.slice(start, end) },
    });
    const { body, ...read } = await forward(JSON.stringify({ RequestItems: from(0, 30) }));
    const UnprocessedKeys = Keys.length > 30 ? from(30) : {};
    const left = JSON.stringify({ ...JSON.parse(`${body}`), UnprocessedKeys });
    const headers = { "content-type": read.headers["content-type"] };
    respond(response, { ...read, headers, body: Buffer.from(left) });
  };
  await saveLog(many.map((id) => logged(String(id))));
  await Promise.all(many.map((id) => put(cancelled(id).slice("$ put ".length))));
  const { sent } = await playIn({ calls: onEvery("BatchGetItem", thirty) })`
    $ orders audit --log cancelled.log
    ! 250 cancellations: 250 stand, 0 undone, 0 reinstated since and not judged
  `;
  const reads = sent.flatMap(({ RequestItems }) => RequestItems?.ORDERS ?? []);
  const sizes = reads.map(({ ConsistentRead, Keys }) => ConsistentRead && Keys.length);
  expect(sizes.sort()).toEqual([10, 10, 100, 100, 20, 40, 40, 50, 70, 70]);
});

test("an audit that may not read says so", async () => {
  await saveLog(many.map((id) => logged(String(id))));
  const denied = rejectedAs("AccessDeniedException", "not authorized");
  await playIn({ calls: onEvery("BatchGetItem", denied) })`
    $ orders audit --log cancelled.log
    ! 0 cancellations: 0 stand, 0 undone, 0 reinstated since and not judged
    ! AWS denied access: not authorized. Run it again for the rest.
    exit 1
  `;
});
