import { describe, expect, test, vi } from "vitest";
import { environments } from "../../../infra/environments.ts";
import { grouped } from "../../../infra/tools/terminal/text.ts";
import { makeApiKey } from "../../../shared/api-keys.ts";
import { systemClock } from "../../../shared/clock.ts";
import { run } from "./run.ts";
import { createTerminal } from "./terminal.ts";

const names = Object.keys(environments);
const key = "key_0123456789abcdef";
const issue = "keys issue --name Acme --expires";
const reinstate = `orders reinstate --cancelled-by ${key}`;

const noDate = "Not a date like 2027-12-31";
const noPeriod = "error: --since must be in the past, and earlier than --until";
const noName = "Must have 1 to 200 characters (code points).";
const noTable = "Must be 3 to 255 of a-z, A-Z, 0-9, _, - and .";
const noUnits = "Must be a whole number from 1 to 999999.";
const noKeyId = "Must be like key_0123456789abcdef: `keys check` prints it.";

test.each([
  ["keys list", `error: choose --local or one of --env ${names.join(", --env ")}`],
  ["keys list --env qa", `Allowed choices are ${names.join(", ")}.`],
  ["keys list --env staging --local", "cannot be used with"],
  ["keys --local", "Usage: petstore keys"],
  ["orders nope\u001b[31m --local", "unknown command 'nope\\u{1b}[31m'"],
  ["orders ship 007", "'007' is invalid for argument 'order-id'. Not a 64-bit integer"],
  ["orders ship 1 --file ids.txt", "error: name either orders or a file of ids"],
  ["orders ship 1 --date yesterday", `${noDate}, nor a date-time with Z or an`],
  [
    "orders ship 1 --date 2027-12-31T12:00Z",
    "It lacks seconds: write 2027-12-31T12:00:00Z.",
  ],
  ["orders export --local --table 'a b'", noTable],
  ["keys list --local --table ab", noTable],
  [`orders repair --local --from ${"a".repeat(256)}`, noTable],
  ["orders repair --local", "required option '--from <table>'"],
  ["orders repair --from abc --fields a,status", "not id, status or shipmentId."],
  ["orders repair --from abc --fields a,shipmentId", "not id, status or shipmentId."],
  ["orders repair --from abc --fields a,reinstatedAt", "not id, status or shipmentId."],
  ["orders repair --from abc --fields cancelledBy", "not id, status or shipmentId."],
  ["orders repair --from abc --fields petId,", "Must be names like petId,quantity"],
  ["orders reinstate --local", "required option '--cancelled-by <key-id>'"],
  [reinstate, "required option '--since <date-time>'"],
  [`${reinstate} --since '20 November 2026'`, noDate],
  [`${reinstate} --since 2999-12-31 --until 3000-01-01`, noPeriod],
  [`${reinstate} --since 2020-01-01 --until 2020-01-01T01:00:00+01:00`, noPeriod],
  [
    `${reinstate} --since 2026-11-20 --ids a --except b`,
    "cannot be used with option '--ids",
  ],
  ["orders list --cancelled-by ''", noKeyId],
  [
    "orders list --status lost",
    "Allowed choices are pending, shipped, cancelled, other.",
  ],
  ["orders show 9223372036854775808", "Not a 64-bit integer"],
  ["orders audit --local", "required option '--log <file>'"],
  ["orders import ''", "Must not be empty."],
  ["orders import a --yes --local", "error: --yes goes with --undo only"],
  [
    "orders import --undo a --record b --yes --local",
    "cannot be used with option '--record",
  ],
  ["orders import --undo a --check --yes --local", "cannot be used with option '--check"],
  ["orders import --record a --check", "cannot be used with option '--check"],
  ["orders export ''", "Must not be empty."],
  ["orders count --rate=-1", noUnits],
  ["orders count --rate 1000000", noUnits],
  ["keys repair --rate 0", noUnits],
  ["keys revoke key_1", `'key_1' is invalid for argument 'key-id'. ${noKeyId}`],
  ["keys issue --local", "required option '--name <name>'"],
  ["keys issue --name ' '", noName],
  [`keys issue --name ${"\u{1f600}".repeat(201)}`, noName],
  ["keys issue --name \u202etekram", "Must be one line without control characters."],
  [`${issue} 2026-02-30`, noDate],
  [`${issue} 2020-01-01`, "Must be in the future."],
  [`${issue} 9999-12-31T23:59:59-18:00`, "Must be in the year 9999 or earlier, in UTC."],
  [`${issue} 2027-12-31T12:00`, "seconds and a time zone: write 2027-12-31T12:00:00Z."],
])("rejects wrong use: %s", async (command, reason) => {
  const { code, stdout, stderr } = await run(command);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toContain(reason);
  expect(stderr).not.toContain("\u001b");
});

const apiKey = makeApiKey("pets_test");
const secret = apiKey.slice("pets_test_".length);
test.each([
  ["keys check KEY --local", "give the key on standard input"],
  ["keys check --local -- KEY", "give the key on standard input"],
  ["keys revoke KEY --local", "for argument 'key-id'"],
  ["orders list --local --cancelled-by KEY", "--cancelled-by <key-id>"],
  ["keys KEY --local", "unknown command"],
  ["keys list --local KEY", "too many arguments"],
  ["keys list --KEY", "unknown option"],
])("echoes nothing of a key, even a mistyped one: %s", async (command, reason) => {
  const mistyped = [`${apiKey}x`, apiKey.slice(4), apiKey.replace("_test", "-test")];
  for (const word of [apiKey, secret, secret.slice(-20), ...mistyped]) {
    const { code, stdout, stderr } = await run(command.replace("KEY", word));
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(reason);
    for (const part of [secret.slice(0, 8), secret.slice(-8)])
      expect(stderr).not.toContain(part);
  }
});

describe("a command that uses capacity", async () => {
  const { play, playWatched, putKey } = await createTerminal();
  const { reads, writes } = environments.production.tableThroughput;
  const reading = `! Using at most ${grouped(reads / 2)} read units a second (--rate)`;
  const writing = `! Using at most ${grouped(writes / 2)} write units a second (--rate)`;
  const log = JSON.stringify({
    timestamp: "2026-11-20T08:00:00.123Z",
    requestId: "request_1",
    message: { event: "order_cancelled", keyId: key, orderId: "1" },
  });

  test("leaves half of it to the service, and needs only PERMISSIONS.md", async () => {
    await putKey({ keyId: key });
    const { sent } = await playWatched`
      $ orders import --env production
      > {"id":1}
      …
      ${writing}
      $ orders import --record a.record --env production
      > {"id":3}
      …
      ${writing}
      $ orders import --undo a.record --yes --env production
      ! production: …
      ! This deletes up to 1 order from ORDERS.
      ${writing}
      ${reading}
      ! ORDERS: 1 deleted, …
      $ orders import --check --env production
      > {"id":1}
      …
      ${reading}
      $ orders export --env production
      …
      ${reading}
      ! Exported 1 order
      $ orders list --env production
      …
      ${reading}
      $ orders count --env production
      …
      ${reading}
      $ orders audit --log - --env production
      > ${log}
      …
      ${reading}
      …
      $ ${reinstate} --since 2020-01-01 --env production
      …
      ${writing}
      ${reading}
      ! Reinstated 0 orders; …
      $ put COPY {"id":2}
      $ orders repair --from COPY --env production
      …
      ${reading}
      ${writing}
      ! Repaired ORDERS: …
      …
      $ orders ship 1 --env production
      …
      ${writing}
      $ orders count --rate 999999 --env production
      …
      ! Using at most 999,999 read units a second (--rate)
    `;
    // The page allows them: test/infra/permissions-page.test.ts.
    const used = new Set(sent.map(({ operation }) => operation));
    expect([...used].sort()).toEqual([
      "BatchGetItem",
      "DeleteItem",
      "PutItem",
      "Scan",
      "UpdateItem",
    ]);
  });

  test("has a rate for reads and one for writes, and keeps to both", async () => {
    vi.spyOn(systemClock, "now").mockReturnValue(5000);
    const pause = vi.spyOn(systemClock, "pause").mockResolvedValue();
    await play`
      $ orders ship 1 2 3 --rate 50
      …
      exit 5
      $ put COPY {"keyId":"key_1","revokedAt":1}
      $ put KEYS {"keyId":"key_1"}
      $ keys repair --from COPY --rate 1
      …
    `;
    const waits = pause.mock.calls.map(([milliseconds]) => milliseconds);
    expect(waits.slice(0, 2)).toEqual([20, 40]);
    // Three reads of the repair wait for the one before, and the write waits for none.
    expect(waits).toHaveLength(2 + 3);
  });
});
