import { test } from "vitest";
import { justBefore } from "../../helpers/faults/fault-proxy.ts";
import { createTerminal } from "./terminal.ts";

const { play, playIn } = await createTerminal();

const cancellation = (by: string) =>
  '"cancelledAt":"2026-11-20T08:00:01.000Z",' +
  `"cancelledBy":"key_${by.repeat(16)}","cancellationId":"${by}"`;
const byA = cancellation("a");
const byB = cancellation("b");
const reinstatedAt = '"reinstatedAt":{"S":"2026-11-20T09:00:00.000Z"}';
const lost = '"status":{"S":"lost\\u001b"}';
const shipment =
  '"shipDate":"2026-11-20T09:00:00Z","otherAttributes":{"shipmentId":{"S":"a"}}';
const signed =
  '"otherAttributes":{"carrier":{"S":"DHL"},"parcels":{"SS":["a","b"]},"signature":{"B":"AP8="}}';

test("what is missing or damaged is put back, once, and everything else stays", () => play`
  $ put COPY {"id":1}
  $ put COPY {"id":2,"status":"shipped",${signed}}
  $ put COPY {"id":3,"status":"cancelled",${byA}}
  $ put COPY {"id":4,${signed}}
  $ put COPY {"id":5}
  $ put COPY {"id":6,"status":"shipped"}
  $ put COPY {"id":7,"petId":9007199254740993}
  $ put {"id":1,"otherAttributes":{${lost}}}
  $ put {"id":2,"otherAttributes":{"carrier":{"S":"nobody"}}}
  $ put {"id":3,"status":null}
  $ put {"id":5,"status":"cancelled",${byB}}
  $ put {"id":6,"status":"cancelled",${byB}}
  $ put {"id":7,"petId":8}
  $ put {"id":8}
  $ orders repair --from COPY --dry-run | sort
  1
  2
  3
  4
  ! Would repair ORDERS: 1 placed, 3 repaired, 0 same, 1 differing, 1 changed since, \
  0 reinstated, 1 contradictory, 1 only live, 0 in neither
  ! 6 is cancelled, but was shipped
  ! 8 is only in the live table
  ! FIELD           DIFFERED IN
  ! cancellationId  1
  ! cancelledAt     1
  ! cancelledBy     1
  ! carrier         1
  ! parcels         1
  ! petId           1
  ! signature       1
  ! status          3
  exit 1
  $ orders repair --from COPY --ids - --fields misspelt --json | sort
  > 2
  > 4
  > 9
  > 8
  > 4
  {"id":2,"outcome":"repaired","status":"pending","was":"shipped"}
  {"id":4,"outcome":"placed","was":"pending"}
  {"id":8,"outcome":"onlyLive","status":"pending"}
  {"id":9,"outcome":"inNeither"}
  {"table":"ORDERS","dryRun":false,"complete":true,"placed":1,"repaired":1,"same":0,\
  "differing":0,"changedSince":0,"reinstated":0,"contradictory":0,"onlyLive":1,"inNeither":1,\
  "fields":{"carrier":1,"parcels":1,"signature":1,"status":1}}
  ! Repaired ORDERS: …
  ! 8 is only in the live table
  ! 9 is in neither table
  …
  ! No order read from the copy has a field misspelt: check --fields
  exit 1
  $ orders repair --from COPY --json | sort
  {"id":1,"outcome":"repaired","status":"lost\u001b","was":"pending"}
  {"id":3,"outcome":"repaired","was":"cancelled"}
  {"id":6,"outcome":"contradictory","status":"cancelled","was":"shipped"}
  {"id":8,"outcome":"onlyLive","status":"pending"}
  {"table":"ORDERS",…,"placed":0,"repaired":2,"same":2,"differing":1,"changedSince":1,…}
  ! Repaired ORDERS: …
  …
  exit 1
  $ table
  {"id":1,"status":"pending"}
  {"id":2,"status":"shipped",${signed}}
  {"id":3,"status":"cancelled",${byA}}
  {"id":4,"status":"pending",${signed}}
  {"id":5,"status":"cancelled",${byB}}
  {"id":6,"status":"cancelled",${byB}}
  {"id":7,"petId":8,"status":"pending"}
  {"id":8,"status":"pending"}
`);

test("an order is judged by what has happened to it since", () => play`
  $ put COPY {"id":11,"petId":1}
  $ put {"id":11,"petId":1,"status":"shipped"}
  $ put COPY {"id":12,"otherAttributes":{${lost}}}
  $ put {"id":12}
  $ put COPY {"id":13,"status":null}
  $ put {"id":13}
  $ put COPY {"id":14,"status":"cancelled",${byA}}
  $ put {"id":14,"otherAttributes":{${reinstatedAt}}}
  $ put COPY {"id":15,"status":"cancelled",${byA}}
  $ put {"id":15,"otherAttributes":{${lost},${reinstatedAt}}}
  $ put COPY {"id":16}
  $ put {"id":16,${byA},"otherAttributes":{${lost}}}
  $ put COPY {"id":17,${byA}}
  $ put {"id":17,${byA},"otherAttributes":{${lost}}}
  $ put COPY {"id":18,"petId":1,"otherAttributes":{${lost}}}
  $ put {"id":18,"status":null}
  $ put COPY {"id":19,"status":"cancelled",${byA}}
  $ put {"id":19,"otherAttributes":{"tip":{"N":"1"}}}
  $ put COPY {"id":20,"otherAttributes":{"weight":{"N":"1"}}}
  $ put {"id":20,"otherAttributes":{"note":{"S":"rubbish"},"weight":{"N":"1"}}}
  $ put COPY {"id":21,"petId":1}
  $ put {"id":21,"petId":2,"shipDate":"2026-11-20T09:00:00Z","complete":true,"status":"shipped"}
  $ put COPY {"id":22,"status":"shipped",${shipment}}
  $ put {"id":22,"otherAttributes":{${reinstatedAt}}}
  $ put COPY {"id":23,"status":"shipped",${shipment}}
  $ put {"id":23,"shipDate":"2026-11-20T10:00:00Z","status":"shipped","otherAttributes":{${reinstatedAt}}}
  $ put COPY {"id":24}
  $ put {"id":24,"status":"shipped",${shipment}}
  $ put COPY {"id":25}
  $ put {"id":25,"otherAttributes":{${lost},"shipmentId":{"S":"a"}}}
  $ put COPY {"id":27,"status":"shipped","shipDate":"2026-11-20T08:00:00Z"}
  $ put {"id":27,"status":null,${shipment}}
  $ put COPY {"id":29,"status":"shipped","shipDate":"2026-11-20T08:00:00Z"}
  $ put {"id":29,"status":"shipped",${shipment}}
  $ put COPY {"id":36,"status":"shipped","shipDate":"2026-11-20T08:00:00Z"}
  $ put {"id":36,"status":null,"otherAttributes":{"shipmentId":{"S":"a"}}}
  $ put COPY {"id":28}
  $ put {"id":28,"status":null,${shipment}}
  $ put COPY {"id":30,"status":"cancelled",${byA}}
  $ put {"id":30,"status":"shipped","otherAttributes":{${reinstatedAt}}}
  $ put COPY {"id":31,"status":"cancelled",${byA}}
  $ put {"id":31,"status":"shipped","otherAttributes":{"reinstatedAt":{"S":"2026-11-20T08:00:00Z"}}}
  $ put COPY {"id":26,"status":"shipped","otherAttributes":{${reinstatedAt}}}
  $ put {"id":26,"otherAttributes":{${reinstatedAt}}}
  $ orders repair --from COPY --fields note,petId,shipDate,complete,weight | sort
  17
  18
  19
  20
  21
  26
  27
  ! Repaired ORDERS: 0 placed, 7 repaired, 0 same, 2 differing, 5 changed since, \
  2 reinstated, 6 contradictory, 0 only live, 0 in neither
  ! 11 is shipped without a new shipmentId, but was pending
  ! 15 is lost\u{1b}, but was cancelled
  ! 16 is lost\u{1b}, but was pending
  ! 21 is shipped without a new shipmentId, but was pending
  ! 25 is lost\u{1b}, but was pending
  ! 28 is without a status, but was pending
  ! 30 is shipped without a new shipmentId, but was cancelled
  ! 31 is shipped without a new shipmentId, but was cancelled
  ! 36 is without a status, but was shipped
  …
  ! tip             1
  ! weight          0
  exit 1
  $ table
  …
  {"id":17,"status":"pending",${byA}}
  {"id":18,"petId":1,"otherAttributes":{${lost}}}
  {"id":19,"status":"cancelled",${byA},"otherAttributes":{"tip":{"N":"1"}}}
  {"id":20,"status":"pending","otherAttributes":{"weight":{"N":"1"}}}
  {"id":21,"petId":1,"shipDate":"2026-11-20T09:00:00Z","complete":true,"status":"shipped"}
  {"id":22,"status":"pending","otherAttributes":{${reinstatedAt}}}
  {"id":23,"shipDate":"2026-11-20T10:00:00Z","status":"shipped","otherAttributes":{${reinstatedAt}}}
  {"id":24,"shipDate":"2026-11-20T09:00:00Z","status":"shipped","otherAttributes":{"shipmentId":{"S":"a"}}}
  {"id":25,"otherAttributes":{"shipmentId":{"S":"a"},${lost}}}
  {"id":26,"status":"shipped","otherAttributes":{${reinstatedAt}}}
  {"id":27,"shipDate":"2026-11-20T09:00:00Z","status":"shipped","otherAttributes":{"shipmentId":{"S":"a"}}}
  {"id":28,"shipDate":"2026-11-20T09:00:00Z","status":null,"otherAttributes":{"shipmentId":{"S":"a"}}}
  {"id":29,"shipDate":"2026-11-20T09:00:00Z","status":"shipped","otherAttributes":{"shipmentId":{"S":"a"}}}
  {"id":30,"status":"shipped","otherAttributes":{${reinstatedAt}}}
  …
  $ put COPY {"id":32}
  $ put {"id":32,"status":"cancelled",${byA}}
  $ put COPY {"id":33}
  $ put {"id":33,"status":"cancelled"}
  $ put COPY {"id":34,${byA}}
  $ put {"id":34,"status":"cancelled"}
  $ put COPY {"id":35,"status":null}
  $ put {"id":35,"status":"shipped"}
  $ orders repair --from COPY --fields status | sort
  11
  21
  30
  31
  33
  34
  35
  ! Repaired ORDERS: 0 placed, 7 repaired, …
  …
  exit 1
  $ table
  {"id":11,"petId":1,"status":"pending","otherAttributes":{"reinstatedAt":{"S":"…"}}}
  …
  {"id":21,"petId":1,"status":"pending","otherAttributes":{"reinstatedAt":{"S":"…"}}}
  …
  {"id":24,"shipDate":"2026-11-20T09:00:00Z","status":"shipped","otherAttributes":{"shipmentId":{"S":"a"}}}
  …
  {"id":30,"status":"pending","otherAttributes":{"reinstatedAt":{"S":"…"}}}
  {"id":31,"status":"cancelled",${byA},"otherAttributes":{"reinstatedAt":{"S":"2026-11-20T08:00:00Z"}}}
  {"id":32,"status":"cancelled",${byA}}
  {"id":33,"status":"pending","otherAttributes":{"reinstatedAt":{"S":"…"}}}
  {"id":34,"status":"pending","otherAttributes":{"reinstatedAt":{"S":"…"}}}
  {"id":35,"status":null}
  {"id":36,"status":null,"otherAttributes":{"shipmentId":{"S":"a"}}}
  $ put COPY {"id":33,"status":"cancelled"}
  $ orders repair --from COPY --ids -
  > 33
  ! Repaired ORDERS: …, 1 reinstated, …
`);

test.each([
  [
    "repair",
    "PutItem",
    `$ put COPY {"id":1}
    $ put COPY {"id":2}
    $ orders repair --from COPY --fields unread --json
    …
    {"table":"ORDERS","dryRun":false,"complete":false,"placed":1,…}
    ! Repaired ORDERS: 1 placed, …`,
  ],
  [
    "reinstatement",
    "UpdateItem",
    `$ put KEYS {"keyId":"key_aaaaaaaaaaaaaaaa"}
    $ put {"id":1,"status":"cancelled",${byA}}
    $ put {"id":2,"status":"cancelled",${byA}}
    $ orders reinstate --cancelled-by key_aaaaaaaaaaaaaaaa --since 2026-11-20 --json --rate 1
    {"id":…}
    {"table":"ORDERS","dryRun":false,"complete":false,"reinstated":1,…}
    …
    ! Reinstated 1 order; …`,
  ],
  [
    "undone import",
    "DeleteItem",
    `$ orders import --record interrupted.record
    ${Array.from({ length: 60 }, (_, id) => `> {"id":${id}}`).join("\n")}
    …
    $ orders import --undo interrupted.record --yes --json
    {"table":"ORDERS","complete":false,"deleted":48,…}
    …
    ! ORDERS: 48 deleted, …`,
  ],
])(
  "an interrupted %s writes no more, and says how far it came",
  async (_, operation, session) => {
    await playIn({ calls: justBefore(operation, async () => process.emit("SIGTERM")) })`
    ${session}
    ! Interrupted. Run it again for the rest.
    exit 1
  `;
  },
);

test("a copy that is none is rejected, and ids that no table has are counted", () => play`
  $ orders repair --from ORDERS
  ! ORDERS is the table in use
  exit 1
  $ orders repair --from KEYS
  ! Nothing was compared: KEYS and ORDERS are empty
  exit 1
  $ put KEYS {"keyId":"key_1"}
  $ orders repair --from KEYS
  ! KEYS has an item without id
  exit 1
  $ orders repair --from Typo
  ! There is no table Typo. Check its name, and whether its stack was deleted or replaced
  exit 1
  $ keys list --table Typo --env production
  ! production: …
  ! There is no table Typo. Check its name, and whether its stack was deleted or replaced
  exit 1
  $ put COPY {"id":1}
  $ orders repair --from COPY --ids -
  ${Array.from({ length: 22 }, (_, id) => `> ${id + 10}`).join("\n")}
  ! Repaired ORDERS: …, 22 in neither
  …
  ! and 2 more: in neither
  exit 1
`);
