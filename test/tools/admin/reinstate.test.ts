import { beforeEach, test } from "vitest";
import { createTerminal } from "./terminal.ts";

const { playIn, putKey } = await createTerminal();
const now = "2026-11-21T09:00:00.000Z";
const leaked = "key_1eaced1eaced1eac";
const reinstate = `orders reinstate --cancelled-by ${leaked} --since 2026-11-20T09:00:00.001+01:00`;
const attributes = '"petId":9007199254740993';
const carrier = '"carrier":{"S":"DHL"}';

const cancelled = (id: number, at = "2026-11-20T08:00:00.001Z", by = leaked) =>
  `{"id":${id},${attributes},"status":"cancelled","cancelledAt":"${at}","cancelledBy":"${by}",` +
  `"cancellationId":"c${id}","otherAttributes":{${carrier}}}`;
const reinstated = (id: number) =>
  `{"id":${id},${attributes},"status":"pending",` +
  `"otherAttributes":{${carrier},"reinstatedAt":{"S":"${now}"}}}`;

beforeEach(() => putKey({ keyId: leaked }));

const [early, first, last, late] = [
  cancelled(1, "2026-11-20T08:00:00.000Z"),
  cancelled(2),
  cancelled(3, "2026-11-20T08:59:59.999Z"),
  cancelled(4, "2026-11-20T09:00:00.000Z"),
];
const others = [
  cancelled(5, undefined, "key_aaaaaaaaaaaaaaaa"),
  `{"id":6,"status":"shipped","cancelledBy":"${leaked}"}`,
  '{"id":7,"status":"pending"}',
];
const all = [early, first, last, late, ...others];
const putAll = all.map((line) => `$ put ${line}`).join("\n");
const left = "left 1 cancelled outside the period";

test("what a key cancelled in the period is pending again, and everything else stays", () =>
  playIn({ now })`
    ${putAll}
    $ ${reinstate} --dry-run --except - | sort
    > 99
    2
    3
    4
    ! Would reinstate 3 orders; ${left}, 0 excepted, 0 changed since, 0 undated
    $ ${reinstate} --until 2026-11-20T09:00:00Z | sort
    2
    3
    ! Reinstated 2 orders; left 2 cancelled outside the period, 0 excepted, 0 changed since, 0 undated
    $ table
    ${[early, reinstated(2), reinstated(3), late, ...others].join("\n")}
    $ ${reinstate} --json
    {"id":4,"cancelledAt":"2026-11-20T09:00:00.000Z"}
    {"table":"ORDERS","dryRun":false,"complete":true,"reinstated":1,"outsidePeriod":1,\
    "excepted":0,"changedSince":0,"undated":0}
    ! Reinstated 1 order; ${left}, 0 excepted, 0 changed since, 0 undated
  `);

test("--ids and --except choose among the orders, unless their file is empty", () =>
  playIn({ now })`
    ${putAll}
    $ ${reinstate} --ids -
    ! error: standard input has no order ids: nothing was changed
    ! (see --help)
    exit 2
    $ ${reinstate} --ids - --until 2026-11-20T09:00:00Z
    > 3
    > 1
    > 4
    > 5
    > 99
    3
    ! Reinstated 1 order; left 2 cancelled outside the period, 0 excepted, 0 changed since, 0 undated, \
    2 not cancelled by this key
    $ ${reinstate} --ids - --json --dry-run
    > 99
    > 2
    {"id":2,"cancelledAt":"2026-11-20T08:00:00.001Z"}
    {"table":"ORDERS","dryRun":true,…,"undated":0,"notCancelledByThisKey":1}
    ! Would reinstate 1 order; …
    $ ${reinstate} --except -
    ! error: standard input has no order ids: …
    …
    exit 2
    $ ${reinstate} --except -
    > 2
    > 1
    > 99
    4
    ! Reinstated 1 order; ${left}, 1 excepted, 0 changed since, 0 undated
    $ table
    ${[early, first, reinstated(3), reinstated(4), ...others].join("\n")}
  `);

test("orders that don't say when they were cancelled are named, and stay", () => {
  const by = `"status":"cancelled","cancelledBy":"${leaked}"`;
  const undated = [
    `{"id":1,${by}}`,
    `{"id":2,${by},"otherAttributes":{"cancelledAt":{"S":"2026-11-20T08:30:00"}}}`,
    ...Array.from({ length: 20 }, (_, id) => `{"id":${id + 10},${by}}`),
  ];
  return playIn({ now })`
    ${undated.map((line) => `$ put ${line}`).join("\n")}
    $ ${reinstate}
    ! Reinstated 0 orders; left 0 cancelled outside the period, 0 excepted, \
    0 changed since, 22 undated
    ! … does not say when it was cancelled
    …
    ! and 2 more: undated
    exit 1
    $ table
    ${undated.sort().join("\n")}
  `;
});

test("a day is its beginning, and a key that was never issued is rejected", () => playIn({
  now,
})`
  $ put ${cancelled(1, "2026-11-20T00:00:00.000Z")}
  $ put ${cancelled(2, "2026-11-19T23:59:59.999Z")}
  $ orders reinstate --cancelled-by ${leaked} --since 2026-11-20
  1
  ! Reinstated 1 order; left 1 cancelled outside the period, …
  $ orders reinstate --cancelled-by key_0123456789abcdef --since 2026-11-20
  ! No key has the id key_0123456789abcdef
  exit 1
`);
