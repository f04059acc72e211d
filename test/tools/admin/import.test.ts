import { writeFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { parseOrderLine } from "../../../infra/tools/orders-file/order-line.ts";
import {
  type Choice,
  justBefore,
  onEvery,
  passOn,
} from "../../helpers/faults/fault-proxy.ts";
import { applied, rejectedAs } from "../../helpers/faults/faults.ts";
import { createTerminal } from "./terminal.ts";

const { folder, play, playIn, playWatched, put } = await createTerminal();

const saveOrders = (count: number) =>
  writeFile(
    "orders.ndjson",
    Array.from({ length: count }, (_, id) => `{"id":${id},"status":"pending"}\n`),
  );

test("an import writes what the table lacks, and shows what differs", () => play`
  $ put {"id":1,"petId":7,"status":"shipped",\
  "otherAttributes":{"photo":{"B":"AQ=="},"note":{"S":""}}}
  $ put {"id":2,"otherAttributes":{"tags":{"SS":["b","a"]},\
  "box":{"M":{"x":{"N":"1"},"y":{"S":""}}}}}
  $ put {"id":9}
  $ save orders.ndjson
  >
  > {"id":1,"petId":8,"otherAttributes":{"photo":{"B":"Ag=="},"colour\u001b":{"S":"red"}}}${"\r"}
  >
  > {"id":2,"otherAttributes":{"tags":{"SS":["a","b"]},"box":{"M":{"y":{"S":""},"x":{"N":"1"}}}}}
  > {"id":3}
  $ orders import orders.ndjson --check
  3 orders: 1 same, 1 different, 1 missing, 0 not compared
  ! orders.ndjson:2: order 1 differs: colour\u{1b} "red" (table: none), note none (table: ""), \
  petId 8 (table: 7), photo {"B":"Ag=="} (table: {"B":"AQ=="}), status "pending" (table: "shipped")
  exit 1
  $ orders import orders.ndjson
  3 orders: 1 written, 1 already there, 1 different, 0 not written
  ! orders.ndjson:2: order 1 differs: …
  exit 1
  $ orders import --json
  > {"id":3,"petId":5}
  > {"id":4}
  {"badLines":[],"orders":2,"written":1,"alreadyThere":0,"different":1,"notWritten":0,\
  "differing":[{"line":1,"problems":["order 3 differs: petId 5 (table: none)"]}]}
  ! standard input:1: order 3 differs: petId 5 (table: none)
  exit 1
  $ orders import --check --json
  > {"id":4,"petId":5}
  > {"id":5}
  {"badLines":[],"orders":2,"same":0,"different":1,"missing":1,"notCompared":0,\
  "differing":[{"line":1,"problems":["order 4 differs: petId 5 (table: none)"]}]}
  ! standard input:1: order 4 differs: petId 5 (table: none)
  exit 1
  $ orders import --check
  > {"id":3}
  1 order: 1 same, 0 different, 0 missing, 0 not compared
  $ table
  {"id":1,"petId":7,"status":"shipped","otherAttributes":{"note":{"S":""},"photo":{"B":"AQ=="}}}
  {"id":2,"status":"pending","otherAttributes":{"box":{"M":{"x":{"N":"1"},"y":{"S":""}}},\
  "tags":{"SS":["a","b"]}}}
  {"id":3,"status":"pending"}
  {"id":4,"status":"pending"}
  {"id":9,"status":"pending"}
`);

test("an import of a bad or an empty file writes nothing", () => play`
  $ save bad.ndjson
  > {"id":4}
  > {"id":1
  > {"id":4}
  $ orders import bad.ndjson
  ! bad.ndjson:2: not JSON: Expected ',' or '}' after property value in JSON \
  at position 7 (line 1 column 8)
  ! bad.ndjson:3: id 4 is already on line 1
  ! 2 of 3 lines are bad: nothing was written
  exit 1
  $ orders import bad.ndjson --json --record bad.record
  {"badLines":[{"line":2,"problems":["not JSON: …"]},\
  {"line":3,"problems":["id 4 is already on line 1"]}],\
  "bad":2,"orders":3,"written":0,"alreadyThere":0,"different":0,"notWritten":3,\
  "differing":[]}
  …
  exit 1
  $ orders import
  > {"id":2,}
  ! standard input:1: not JSON: … column 9)
  ! 1 of 1 line is bad: nothing was written
  exit 1
  $ orders import --undo bad.record --yes
  ! bad.record: no such file or directory
  exit 1
  $ orders import --json
  ${"> {}\n".repeat(22)}{"badLines":[…],"bad":22,"orders":22,"written":0,…}
  …
  exit 1
  $ orders import
  >
  ! standard input has no orders
  exit 1
  $ orders import ${folder}
  ! ${folder} is a folder
  exit 1
  $ orders import none
  ! none: no such file or directory
  exit 1
  $ table
`);

test("an order may be as large as the table's limit, and no larger", async () => {
  /** Every type of attribute, one of them as deep as it may be. */
  const attributes =
    '"é":{"S":"é"},"n":{"N":"12345e-6"},"b":{"B":"AAE="},"o":{"BOOL":true},"u":{"NULL":true},' +
    '"ss":{"SS":["a","é"]},"ns":{"NS":["0","120"]},"bs":{"BS":["AA==","AAE="]},' +
    '"m":{"M":{"é":{"S":"abc"},"x":{"M":{}}}},' +
    `"l":${'{"L":['.repeat(31)}{"L":[]}${"]}".repeat(31)}`;
  const outcomes = [409_600, 409_601].map(async (size) => {
    const others = `${attributes},"pad":{"S":"${"x".repeat(size - 181)}"}`;
    const line = `{"id":1,"status":null,"otherAttributes":{${others}}}`;
    const { problems } = Object(parseOrderLine(line));
    const stored = put(`{"id":{"N":"1"},${others}}`);
    return [problems, await stored.catch(({ message }) => message)];
  });
  const problems = ["the order is larger than DynamoDB's limit of 400 KB"];
  expect(await Promise.all(outcomes)).toEqual([
    [undefined, undefined],
    [problems, "Item size has exceeded the maximum allowed size"],
  ]);
});

test("each command shows its progress on a terminal", async () => {
  await saveOrders(50);
  await playIn({ terminals: ["stderr"] })`
    $ orders import orders.ndjson --record progress.record
    50 orders: 50 written, 0 already there, 0 different, 0 not written
    ! ⌫Checking 100%, … MB/s⌫⌫Writing 2%, … orders/s…⌫ (no end of line)
    $ orders import orders.ndjson --check
    50 orders: 50 same, …
    ! ⌫Checking 100%, … MB/s⌫⌫Comparing 2%, … orders/s…⌫ (no end of line)
    $ orders count --json
    {…,"total":50,…}
    ! ⌫Counting 50 orders, … orders/s⌫ (no end of line)
    $ orders list
    …
    ! ⌫Listing 50 orders, … orders/s⌫ (no end of line)
    $ orders audit --log -
    > {"timestamp":"2026-11-20T08:00:00Z","requestId":"r",\
    "message":{"event":"order_cancelled","keyId":"k","orderId":"0"}}
    …
    ! …⌫Auditing 1 cancellations, … cancellations/s⌫1 cancellation: …
    exit 1
    $ put KEYS {"keyId":"key_aaaaaaaaaaaaaaaa"}
    $ orders reinstate --cancelled-by key_aaaaaaaaaaaaaaaa --since 2026-11-20
    ! ⌫Reinstating 1 orders read, … orders read/s…⌫Reinstated …
    $ orders ship 0 1
    …
    ! …Shipping 50%, … orders/s…⌫2 orders: 2 shipped
    $ put COPY {"id":2}
    $ orders repair --from COPY --dry-run
    ! ⌫Comparing 1 items, … items/s…⌫Would repair …
    …
    $ orders repair --from COPY
    ! ⌫Repairing 1 items, … items/s…⌫Repaired …
    …
    $ orders import --undo progress.record --yes
    …
    ! …Deleting 1 orders, … orders/s…⌫ORDERS: 48 deleted, …
    exit 1
  `;
});

test("a long value is shown in part, and of many differences of a kind some", async () => {
  const long = "x".repeat(100);
  await saveOrders(22);
  await play`
    $ put {"id":{"N":"30"},"status":{"S":"${long}"}}
    $ orders import orders.ndjson
    …
    $ orders import --check
    > {"id":30}
    ${Array.from({ length: 22 }, (_, id) => `> {"id":${id},"petId":1}`).join("\n")}
    23 orders: 0 same, 23 different, 0 missing, 0 not compared
    ! standard input:1: order 30 differs: status "pending" (table: "${long.slice(0, 59)}...)
    …
    ! standard input:21: order 19 differs: petId 1 (table: none)
    ! and 2 more: petId
    exit 1
  `;
});

test("an import that fails begins no other write, and its counts add up", async () => {
  await saveOrders(100);
  const denied = rejectedAs("AccessDeniedException", "not authorized to perform PutItem");
  // At most 48 writes are under way at a time, and no fewer.
  const { promise: underWay, resolve } = Promise.withResolvers<void>();
  let count = 0;
  const calls = onEvery("PutItem", async (exchange) => {
    count += 1;
    if (count <= 10) return await passOn(exchange);
    if (count === 10 + 48) resolve();
    await underWay;
    await denied(exchange);
  });
  const { sent } = await playIn({ calls })`
    $ orders import orders.ndjson --rate 100
    100 orders: 10 written, 0 already there, 0 different, 90 not written
    ! Using at most 100 write units a second (--rate)
    ! AWS denied access: not authorized to perform PutItem
    exit 1
  `;
  expect(sent).toHaveLength(1 + 10 + 48);
});

test("an import names the line of a write that the table rejects, and writes the rest", () => {
  const odd = rejectedAs("ValidationException", "Odd order");
  const calls: Choice = ({ input }) => (input.includes('"N":"2"') ? odd : undefined);
  return playIn({ calls })`
    $ orders import
    > {"id":1}
    > {"id":2}
    > {"id":3}
    3 orders: 2 written, 0 already there, 0 different, 1 not written
    ! standard input:2: order 2 was rejected: Odd order
    exit 1
  `;
});

test("an import counts the writes that may have been applied", async () => {
  const lost = applied["a status of a proxy"];
  await saveOrders(2);
  await playIn({ calls: onEvery("PutItem", lost) })`
    $ orders import orders.ndjson
    2 orders: 0 written, 0 already there, 0 different, 0 not written, 2 may have been written
    ! DynamoDB's response was incomplete or malformed (HTTP 418). \
    2 writes may have been applied. Run it again for the rest.
    exit 1
    $ orders import orders.ndjson --check
    2 orders: 2 same, 0 different, 0 missing, 0 not compared
  `;
});

test("a comparison reads a hundred orders at a time, consistently, and only reads", async () => {
  await saveOrders(120);
  const { sent } = await playWatched`
    $ orders import orders.ndjson --check
    120 orders: 0 same, 0 different, 120 missing, 0 not compared
    exit 1
  `;
  const read = (keys: number) => ({
    operation: "BatchGetItem",
    RequestItems: { ORDERS: { ConsistentRead: true, Keys: { length: keys } } },
  });
  expect(sent).toMatchObject([{ operation: "DescribeTable" }, read(100), read(20)]);
});

test("Ctrl-C while the last order is being written changes nothing", () =>
  playIn({ calls: justBefore("PutItem", async () => process.emit("SIGINT")) })`
    $ orders import
    > {"id":1}
    1 order: 1 written, 0 already there, 0 different, 0 not written
  `);
