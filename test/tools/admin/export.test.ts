import { execFileSync } from "node:child_process";
import {
  chmod,
  open,
  readdir,
  readFile,
  readlink,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { expect, test, vi } from "vitest";
import { onEvery } from "../../helpers/faults/fault-proxy.ts";
import { rejectedAs } from "../../helpers/faults/faults.ts";
import { pagesOf } from "./calls.ts";
import { createTerminal } from "./terminal.ts";

const { folder, play, playIn } = await createTerminal();
const modeOf = async (path: string) => (await stat(path)).mode & 0o777;
/** The files that replace the one with this name when they are complete. */
const partialsOf = async (name: string) =>
  (await readdir(".")).filter((file) => file.startsWith(`${name}.`));

/** One order of each kind, exact to the last digit, in the order of their lines. */
const orders = [
  '{"id":-9223372036854775808,"petId":-1,"quantity":0,"complete":false,"status":"pending"}',
  '{"id":0,"status":"cancelled"}',
  '{"id":1,"status":"cancelled","cancelledAt":"2026-11-20T08:00:00.000Z",' +
    '"cancelledBy":"key_0123456789abcdef","cancellationId":"5f3f"}',
  '{"id":2,"otherAttributes":{"colour":{"SS":["blue","red"]},"petId":{"L":[]},' +
    '"photo":{"B":"AP8="},"status":{"S":"held"}}}',
  '{"id":3,"status":null,"otherAttributes":{"price":' +
    '{"M":{"amount":{"N":"12345678901234567890123456789012345678"}}}}}',
  '{"id":9223372036854775807,"petId":9007199254740993,' +
    '"shipDate":"2026-12-01T09:00:00.123456789+05:30","status":"shipped"}',
];
const lines = orders.join("\n");
const putOrders = orders.map((line) => `$ put ${line}`).join("\n");

test("an export of every page, read consistently, can be imported again", async () => {
  const { sent } = await playIn({ calls: onEvery("Scan", pagesOf(2)) })`
    ${putOrders}
    $ orders export | sort
    ${lines}
    ! Exported 6 orders
    $ orders export all.ndjson
    Exported 6 orders to all.ndjson
    $ orders export all.ndjson --json
    {"orders":6,"skipped":0}
  `;
  const scans = sent.filter(({ operation }) => operation === "Scan");
  expect(scans.length).toBeGreaterThanOrEqual(3 * 3);
  for (const { ConsistentRead } of scans) expect(ConsistentRead).toBe(true);
});

test("an import of the last test's export restores the table", async () => {
  await play`
    $ orders import all.ndjson
    6 orders: 6 written, 0 already there, 0 different, 0 not written
    $ table
    ${lines}
  `;
});

test("an export names what it skips, which table it reads, and where it can't write", () => play`
  $ put {"id":5}
  $ orders export none/orders.ndjson
  ! none/orders.ndjson: no such file or directory
  exit 1
  $ orders export ${folder}
  ! ${folder} is a folder
  exit 1
  $ put {"id":6}
  $ put {"id":{"N":"1.5"}}
  $ orders export | sort
  {"id":5,"status":"pending"}
  {"id":6,"status":"pending"}
  ! Order 1.5 skipped: id is not a 64-bit integer
  ! Exported 2 orders, skipped 1
  exit 1
  $ put COPY {"id":{"N":"9223372036854775808"}}
  $ put COPY {"id":7}
  $ put COPY {"id":{"N":"8"},"__proto__":{"S":"x"}}
  $ orders export /dev/stdout --table COPY --json
  {"id":7,"status":"pending"}
  ! Order 8 skipped: has an attribute __proto__
  ! Order 9223372036854775808 skipped: id is not a 64-bit integer
  ! Exported 1 order, skipped 2
  exit 1
`);

const denied = rejectedAs("ResourceNotFoundException");
test.each([
  ["fails", denied, "There is no table ORDERS. …"],
  [
    "is interrupted",
    (exchange) => {
      process.emit("SIGHUP");
      return denied(exchange);
    },
    "Interrupted",
  ],
])(
  "an export whose second page %s leaves the last one, and no other file",
  async (_, second, line) => {
    let scans = 0;
    const calls = onEvery("Scan", (exchange) =>
      (++scans === 1 ? pagesOf(2) : second)(exchange),
    );
    await playIn({ calls })`
    ${putOrders}
    $ save last.ndjson
    > the last export
    $ orders export last.ndjson
    ! ${line}
    exit 1
  `;
    expect(scans).toBe(2);
    expect(await readFile("last.ndjson", "utf8")).toBe("the last export\n");
    expect(await partialsOf("last.ndjson")).toEqual([]);
  },
);

test("an export to a pipe writes there instead of replacing it", async () => {
  execFileSync("mkfifo", ["pipe"]);
  const played = play`
    $ put {"id":1}
    $ orders export pipe
    Exported 1 order to pipe
  `;
  const [content] = await Promise.all([readFile("pipe", "utf8"), played]);
  expect(content).toBe('{"id":1,"status":"pending"}\n');
  expect((await stat("pipe")).isFIFO()).toBe(true);
});

test("an export replaces the file behind a link, with its mode, once it is on the disk", async () => {
  await writeFile("target.ndjson", "the last export\n");
  await chmod("target.ndjson", 0o620);
  await symlink("target.ndjson", "link.ndjson");
  await using target = await open("target.ndjson");
  const atFlush: unknown[] = [];
  vi.spyOn(Object.getPrototypeOf(target), "sync").mockImplementation(async () => {
    for (const name of await partialsOf("target.ndjson"))
      atFlush.push(await modeOf(name));
    atFlush.push(await readFile("target.ndjson", "utf8"));
  });
  await play`
    $ put {"id":1}
    $ orders export link.ndjson
    Exported 1 order to link.ndjson
  `;
  expect(atFlush).toEqual([0o620 & ~process.umask(), "the last export\n"]);
  expect(await modeOf("target.ndjson")).toBe(0o620);
  expect(await readFile("target.ndjson", "utf8")).toBe('{"id":1,"status":"pending"}\n');
  expect(await readlink("link.ndjson")).toBe("target.ndjson");
});

test("an export rejects a link that leads nowhere, and keeps it", async () => {
  await symlink("none.ndjson", "dangling.ndjson");
  await play`
    $ orders export dangling.ndjson
    ! dangling.ndjson is a link that leads nowhere
    exit 1
    $ orders export dangling.ndjson/
    ! dangling.ndjson/ is a link that leads nowhere
    exit 1
  `;
  expect(await readlink("dangling.ndjson")).toBe("none.ndjson");
});

test("an export removes no file that it has not made", async () => {
  vi.spyOn(crypto, "randomUUID").mockReturnValue("0-0-0-0-0");
  await writeFile("mine.ndjson.0-0-0-0-0.partial", "theirs");
  await play`
    $ orders export mine.ndjson
    ! mine.ndjson: file already exists
    exit 1
  `;
  expect(await readFile("mine.ndjson.0-0-0-0-0.partial", "utf8")).toBe("theirs");
});

test("an export on a terminal shows its progress, but for orders that it prints there", async () => {
  await playIn({ terminals: ["stderr"] })`
    $ put {"id":1}
    $ orders export all.ndjson
    Exported 1 order to all.ndjson
    ! ⌫Exporting 1 orders, … orders/s⌫ (no end of line)
    $ put {"id":{"N":"1.5"}}
    $ orders export
    …
    ! ⌫Exporting …⌫Order 1.5 skipped: id is not a 64-bit integer
    ! ⌫Exported 1 order, skipped 1
    exit 1
  `;
  await playIn({ terminals: ["stdout", "stderr"] })`
    $ orders export
    {"id":1,"status":"pending"}
    ! ⌫Order …
    ! ⌫Exported …
    exit 1
  `;
});
