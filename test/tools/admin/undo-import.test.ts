import fs from "node:fs";
import { writeFile } from "node:fs/promises";
import { expect, test, vi } from "vitest";
import { type Choice, onEvery, passOn } from "../../helpers/faults/fault-proxy.ts";
import { applied, unapplied } from "../../helpers/faults/faults.ts";
import { run } from "../run.ts";
import { onEveryAfter, onFirst } from "./calls.ts";
import { createTerminal } from "./terminal.ts";

const { items, play, playIn, put, start } = await createTerminal();

test("an undone import deletes what it wrote and nobody has changed, and names what stays", () => play`
  $ put {"id":1}
  $ put {"id":2,"petId":9}
  $ orders import --record one.record
  > {"id":1}
  > {"id":2}
  > {"id":3,"status":"shipped","otherAttributes":{"price":{"N":"1.50"},"tags":{"SS":["b","a"]},\
  "box":{"M":{"photo":{"B":"AQ=="},"list":{"L":[{"NULL":true},{"BOOL":false}]}}}}}
  > {"id":-4,"status":null}
  > {"id":5}
  > {"id":6}
  6 orders: 4 written, …
  …
  exit 1
  $ orders import --record one.record
  > {"id":7}
  ! one.record: file already exists
  exit 1
  $ put {"id":5,"status":"shipped"}
  $ put {"id":6,"otherAttributes":{"parcel":{"S":"1"}}}
  $ orders import --undo one.record --json
  ! error: No terminal to ask on. Add --yes to go ahead.
  ! (see --help)
  exit 2
  $ orders import --undo one.record --yes | sort
  Order 1 was there before
  Order 2 was there before
  Order 5 has changed since
  Order 6 has changed since
  ! This deletes up to 4 orders from ORDERS.
  ! ORDERS: 2 deleted, 0 missing, 2 changed since, 2 there before, 0 unknown
  exit 1
  $ table
  {"id":1,"status":"pending"}
  {"id":2,"petId":9,"status":"pending"}
  {"id":5,"status":"shipped"}
  {"id":6,"status":"pending","otherAttributes":{"parcel":{"S":"1"}}}
  $ orders import --undo one.record --yes --json | sort
  {"id":1,"outcome":"thereBefore"}
  {"id":2,"outcome":"thereBefore"}
  {"id":5,"outcome":"changedSince"}
  {"id":6,"outcome":"changedSince"}
  {"table":"ORDERS","complete":true,"deleted":0,"missing":2,"changedSince":2,"thereBefore":2,\
  "unknown":0}
  …
  exit 1
`);

test("an undone import leaves an order that a retry has found, which may be someone else's", () => {
  const lost = onFirst("PutItem", applied["reset after the engine"]);
  const changed = onFirst("DeleteItem", async (exchange) => {
    await put('{"id":2,"status":"shipped"}');
    unapplied["500 of the service"](exchange);
  });
  const calls: Choice = (call) => (/"N":"1"/.test(call.input) ? lost : changed)(call);
  return playIn({ calls })`
    $ orders import --record lost.record
    > {"id":1}
    > {"id":2}
    2 orders: 2 written, …
    $ orders import --undo lost.record --yes | sort
    Order 1 may have been written by the import, or by someone else
    Order 2 has changed since
    …
    ! ORDERS: 0 deleted, 0 missing, 1 changed since, 0 there before, 1 unknown
    exit 1
    $ table
    {"id":1,"status":"pending"}
    {"id":2,"status":"shipped"}
  `;
});

test("an undone import asks first, and knows its own deletion again, its response lost", () =>
  playIn({
    calls: onFirst("DeleteItem", applied["reset after the engine"]),
    terminals: ["stdin"],
  })`
    $ put {"id":2}
    $ orders import --record deleted.record
    > {"id":1}
    > {"id":2}
    2 orders: 1 written, 1 already there, …
    ! Reading standard input, up to Ctrl-D
    $ orders import --undo deleted.record
    > n
    ! This deletes up to 1 order from ORDERS. Go on? [y/N] Nothing was deleted
    exit 1
    $ orders import --undo deleted.record
    > y
    Order 2 was there before
    ! This deletes up to 1 order from ORDERS. Go on? [y/N] ORDERS: 1 deleted, 0 missing, …
  `);

test("a killed import may be run again, and undone but for orders of unknown outcome", async () => {
  const lines = Array.from({ length: 250 }, (_, id) => `{"id":${id}}\n`);
  await writeFile("killed.ndjson", lines);
  const silent = onEveryAfter(120, "PutItem", applied["silence after the engine"]);
  const { child, ended } = await start(
    "orders import killed.ndjson --record killed.record",
    {
      calls: silent.calls,
    },
  );
  await silent.failing;
  child.kill("SIGKILL");
  await ended;
  await play`
    $ orders import killed.ndjson
    250 orders: … written, … already there, 0 different, 0 not written
  `;
  // As a crash of the machine may leave it.
  await writeFile("killed.record", '{"id":249,"sta', { flag: "a" });
  const { code, stdout } = await run("orders import --undo killed.record --yes --local");
  expect(code).toBe(1);
  const named = stdout.matchAll(/^Order (\d+) may have been written/gm);
  const left = (await items("orders")).map(({ id }) => Number(id?.N));
  // A hundred orders are recorded at a time: two hundred before it was killed.
  const recorded = left.filter((id) => id < 200);
  expect(Array.from(named, ([, id]) => Number(id)).sort()).toEqual(recorded.sort());
  expect(left.length).toBeGreaterThanOrEqual(250 - 120);
});

test("an order's line is on the disk before the order is written", async () => {
  let flushed = "";
  vi.spyOn(fs, "fsyncSync").mockImplementation(() => {
    flushed = fs.readFileSync("disk.record", "utf8");
  });
  const written: boolean[] = [];
  const calls = onEvery("PutItem", async (exchange) => {
    const { id } = JSON.parse(exchange.input).Item;
    written.push(flushed.includes(`{"id":${id.N},`));
    await passOn(exchange);
  });
  await playIn({ calls })`
    $ orders import --record disk.record
    > {"id":1}
    > {"id":2}
    2 orders: 2 written, …
  `;
  expect(written).toEqual([true, true]);
});

test("only the record of an import into the same table, in a file, is undone", async () => {
  await writeFile("other.record", '{"table":"Other.1"}\n');
  await play`
    $ orders import --undo other.record --yes
    ! other.record is of the table Other.1, not ORDERS
    exit 1
    $ save orders.ndjson
    > {"id":1}
    $ orders import --undo orders.ndjson --yes
    ! orders.ndjson is not the record of an import
    exit 1
    $ orders import --undo - --yes
    > {"table":"ORDERS"}
    ! standard input can't be read twice: name a file
    exit 1
    $ orders import --undo /dev/null --yes
    ! /dev/null can't be read twice: name a file
    exit 1
  `;
});
