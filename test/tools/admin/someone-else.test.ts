import { expect, test } from "vitest";
import { justBefore } from "../../helpers/faults/fault-proxy.ts";
import { createTerminal } from "./terminal.ts";

const { empty, playIn, put, tables } = await createTerminal();

const now = "2026-11-21T09:00:00.000Z";
const leaked = "key_1eaced1eaced1eac";
const cancelled = (by: string) =>
  `{"id":1,"status":"cancelled","cancelledAt":"2026-11-20T08:00:00.000Z","cancelledBy":"${by}"}`;
const byLeaked = cancelled(leaked);
const byOther = cancelled("key_0123456789abcdef");
const pending = '{"id":1,"status":"pending"}';
const shipped = '{"id":1,"status":"shipped"}';
const damaged = '{"id":1,"status":null}';
const reinstated =
  '{"id":1,"status":"pending","otherAttributes":{"reinstatedAt":{"S":"2026-11-20T09:00:00.000Z"}}}';
const extended = '{"id":1,"status":"pending","otherAttributes":{"parcel":{"S":"1"}}}';
const key = '{"keyId":"key_1111111111111111","createdAt":0,"name":"test"}';
const revoked =
  '{"keyId":"key_1111111111111111","createdAt":0,"name":"test","revokedAt":2}';
const revokedSince = revoked.replace(":2}", ":9}");
const deleted = "";

const reinstate = `
  $ put KEYS {"keyId":"${leaked}"}
  $ put ${byLeaked}
  $ orders reinstate --cancelled-by ${leaked} --since 2026-11-20
  ! Reinstated 0 orders; left …, 1 changed since, 0 undated`;
const repair = (live: string, printed: string) => `
  $ put COPY ${shipped}${live}
  $ orders repair --from COPY
  ${printed}`;
const mend = (printed: string) => repair(`\n$ put ${damaged}`, printed);
const repairKey = (printed: string) => `
  $ put COPY ${revoked}
  $ put KEYS ${key}
  $ keys repair --from COPY
  ${printed}`;
const revoke = (printed: string) => `
  $ put KEYS ${key}
  $ keys revoke key_1111111111111111
  ${printed}`;
const ship = (printed: string) => `
  $ put ${pending}
  $ orders ship 1
  ${printed}`;
const importing = (printed: string) => `
  $ orders import
  > ${pending}
  ${printed}`;
let records = 0;
const undo = (printed: string) => `
  $ orders import --record ${++records}.record
  > ${pending}
  …
  $ orders import --undo ${records}.record --yes
  ${printed}`;

test.each<
  [what: string, meanwhile: string, operation: string, session: string, after?: string]
>([
  ["reinstate: cancelled again", byOther, "UpdateItem", reinstate],
  ["reinstate: cancelled later", byLeaked.replace("T08", "T09"), "UpdateItem", reinstate],
  ["reinstate: reinstated", reinstated, "UpdateItem", reinstate],
  ["reinstate: deleted", deleted, "UpdateItem", reinstate],
  [
    "repair, missing: placed",
    byOther,
    "PutItem",
    repair("", "! Repaired ORDERS: 0 placed, …, 1 contradictory, …\n…\nexit 1"),
  ],
  [
    "repair, damaged: damaged otherwise",
    '{"id":1,"otherAttributes":{"status":{"S":"lost"}}}',
    "UpdateItem",
    mend("1\n! Repaired ORDERS: 0 placed, 1 repaired, …\n…"),
    shipped,
  ],
  [
    "repair, damaged: cancelled",
    byOther,
    "UpdateItem",
    mend(
      "! Repaired …, 1 contradictory, …\n! 1 is cancelled, but was shipped\n…\nexit 1",
    ),
  ],
  [
    "repair, damaged: reinstated",
    reinstated,
    "UpdateItem",
    mend("! Repaired …, 1 reinstated, …\n…"),
  ],
  [
    "repair, revived: reinstated",
    reinstated,
    "UpdateItem",
    repair(`\n$ put ${pending}`, "! Repaired …, 1 reinstated, …\n…"),
  ],
  [
    "repair, damaged: deleted",
    deleted,
    "UpdateItem",
    mend("1\n! Repaired ORDERS: 1 placed, …"),
    shipped,
  ],
  [
    "keys repair: revoked",
    revokedSince,
    "UpdateItem",
    repairKey("! Repaired KEYS: 0 placed, 0 repaired, 0 same, 1 differing, …\n…"),
  ],
  [
    "keys repair: deleted",
    deleted,
    "UpdateItem",
    repairKey("key_1111111111111111\n! Repaired KEYS: 1 placed, 0 repaired, …"),
    revoked,
  ],
  [
    "keys revoke: revoked",
    revoked,
    "UpdateItem",
    revoke("key_1111111111111111 (test) was already revoked at 1970-01-01T00:00:02Z"),
  ],
  [
    "keys revoke: deleted",
    deleted,
    "UpdateItem",
    revoke("! No key has the id key_1111111111111111\nexit 1"),
  ],
  [
    "ship: cancelled",
    byOther,
    "UpdateItem",
    ship("Order 1 is cancelled and can't ship\nexit 4"),
  ],
  ["ship: shipped", shipped, "UpdateItem", ship("Order 1 had already shipped\nexit 3")],
  ["ship: deleted", deleted, "UpdateItem", ship("Order 1 does not exist\nexit 5")],
  [
    "import: placed",
    shipped,
    "PutItem",
    importing("1 order: 0 written, 0 already there, 1 different, …\n…\nexit 1"),
  ],
  ["undo: shipped", shipped, "DeleteItem", undo("Order 1 has changed since\n…\nexit 1")],
  [
    "undo: extended",
    extended,
    "DeleteItem",
    undo("Order 1 has changed since\n…\nexit 1"),
  ],
  ["undo: deleted", deleted, "DeleteItem", undo("…\n! ORDERS: 0 deleted, 1 missing, …")],
])(
  "a write depends on what someone else does just before it: %s",
  async (_, meanwhile, operation, session, after = meanwhile) => {
    const table = session.includes("$ keys") ? "KEYS" : "ORDERS";
    let isDone = false;
    const act = async () => {
      if (isDone) return;
      isDone = true;
      if (meanwhile === deleted) await empty();
      else await put(meanwhile, table === "KEYS" ? tables.apiKeys : tables.orders);
    };
    await playIn({ now, calls: justBefore(operation, act) })`
      ${session.replaceAll(/\n +/g, "\n").trim()}
      $ table ${table}
      ${after}
    `;
    expect(isDone).toBe(true);
  },
);
