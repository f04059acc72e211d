import { rm } from "node:fs/promises";
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
const withId = shipped.replace("}", ',"otherAttributes":{"shipmentId":{"S":"1"}}}');
const damaged = '{"id":1,"status":null}';
const reinstated =
  '{"id":1,"status":"pending","otherAttributes":{"reinstatedAt":{"S":"2026-11-20T09:00:00.000Z"}}}';
const extended = '{"id":1,"status":"pending","otherAttributes":{"parcel":{"S":"1"}}}';
const key = '{"keyId":"key_1111111111111111","createdAt":0,"name":"test"}';
const revoked =
  '{"keyId":"key_1111111111111111","createdAt":0,"name":"test","revokedAt":2}';
const revokedSince = revoked.replace(":2}", ":9}");
const deleted = "";

const sessions: Record<string, string> = {
  reinstate: `
    $ put KEYS {"keyId":"${leaked}"}
    $ put ${byLeaked}
    $ orders reinstate --cancelled-by ${leaked} --since 2026-11-20`,
  "repair, missing": `
    $ put COPY ${shipped}
    $ orders repair --from COPY`,
  "repair, damaged": `
    $ put COPY ${shipped}
    $ put ${damaged}
    $ orders repair --from COPY`,
  "repair, revived": `
    $ put COPY ${shipped}
    $ put ${pending}
    $ orders repair --from COPY`,
  "repair, ended without an id": `
    $ put COPY ${pending}
    $ put ${shipped}
    $ orders repair --from COPY --fields status`,
  "keys repair": `
    $ put COPY ${revoked}
    $ put KEYS ${key}
    $ keys repair --from COPY`,
  "keys revoke": `
    $ put KEYS ${key}
    $ keys revoke key_1111111111111111`,
  ship: `
    $ put ${pending}
    $ orders ship 1`,
  import: `
    $ orders import
    > ${pending}`,
  undo: `
    $ orders import --record undo.record
    > ${pending}
    …
    $ orders import --undo undo.record --yes`,
};
/** The write of each session that is no update. */
const writes: Record<string, string> = {
  "repair, missing": "PutItem",
  import: "PutItem",
  undo: "DeleteItem",
};
const left = "! Reinstated 0 orders; left …, 1 changed since, 0 undated";

test.each<[what: string, meanwhile: string, printed: string, after?: string]>([
  ["reinstate: cancelled again", byOther, left],
  ["reinstate: cancelled later", byLeaked.replace("T08", "T09"), left],
  ["reinstate: reinstated", reinstated, left],
  ["reinstate: deleted", deleted, left],
  [
    "repair, missing: placed",
    byOther,
    "! Repaired ORDERS: 0 placed, …, 1 contradictory, …\n…\nexit 1",
  ],
  [
    "repair, damaged: damaged otherwise",
    '{"id":1,"otherAttributes":{"status":{"S":"lost"}}}',
    "1\n! Repaired ORDERS: 0 placed, 1 repaired, …\n…",
    shipped,
  ],
  [
    "repair, damaged: cancelled",
    byOther,
    "! Repaired …, 1 contradictory, …\n! 1 is cancelled without …\n…\nexit 1",
  ],
  ["repair, damaged: reinstated", reinstated, "! Repaired …, 1 reinstated, …\n…"],
  ["repair, revived: reinstated", reinstated, "! Repaired …, 1 reinstated, …\n…"],
  [
    "repair, ended without an id: given one",
    withId,
    "! Repaired ORDERS: …, 1 changed since, …\n…",
  ],
  ["repair, damaged: deleted", deleted, "1\n! Repaired ORDERS: 1 placed, …", shipped],
  [
    "keys repair: revoked",
    revokedSince,
    "! Repaired KEYS: 0 placed, 0 repaired, 0 same, 1 differing, …\n…",
  ],
  [
    "keys repair: deleted",
    deleted,
    "key_1111111111111111\n! Repaired KEYS: 1 placed, 0 repaired, …",
    revoked,
  ],
  [
    "keys revoke: revoked",
    revoked,
    "key_1111111111111111 (test) was already revoked at 1970-01-01T00:00:02Z",
  ],
  ["keys revoke: deleted", deleted, "! No key has the id key_1111111111111111\nexit 1"],
  ["ship: cancelled", byOther, "Order 1 is cancelled and can't ship\nexit 4"],
  ["ship: shipped", shipped, "Order 1 had already shipped\nexit 3"],
  ["ship: deleted", deleted, "Order 1 does not exist\nexit 5"],
  [
    "import: placed",
    shipped,
    "1 order: 0 written, 0 already there, 1 different, …\n…\nexit 1",
  ],
  ["undo: shipped", shipped, "Order 1 has changed since\n…\nexit 1"],
  ["undo: extended", extended, "Order 1 has changed since\n…\nexit 1"],
  ["undo: deleted", deleted, "…\n! ORDERS: 0 deleted, 1 missing, …"],
])(
  "a write depends on what someone else does just before it: %s",
  async (what, meanwhile, printed, after = meanwhile) => {
    const [name = ""] = what.split(": ");
    const table = name.startsWith("keys") ? "KEYS" : "ORDERS";
    let isDone = false;
    const act = async () => {
      if (isDone) return;
      isDone = true;
      if (meanwhile === deleted) await empty();
      else await put(meanwhile, table === "KEYS" ? tables.apiKeys : tables.orders);
    };
    await rm("undo.record", { force: true });
    await playIn({ now, calls: justBefore(writes[name] ?? "UpdateItem", act) })`
      ${sessions[name]?.trim().replaceAll(/\n +/g, "\n")}
      ${printed}
      $ table ${table}
      ${after}
    `;
    expect(isDone).toBe(true);
  },
);
