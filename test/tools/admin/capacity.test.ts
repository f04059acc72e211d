import { expect, test, vi } from "vitest";
import { environments } from "../../../infra/environments.ts";
import { grouped } from "../../../infra/tools/terminal/text.ts";
import { systemClock } from "../../../shared/clock.ts";
import { createTerminal } from "./terminal.ts";

const key = "key_0123456789abcdef";
const reinstate = `orders reinstate --cancelled-by ${key}`;
const { play, playWatched, putKey } = await createTerminal();

const { reads, writes } = environments.production.tableThroughput;
const reading = `! Using at most ${grouped(reads / 2)} read units a second (--rate)`;
const writing = `! Using at most ${grouped(writes / 2)} write units a second (--rate)`;
const log = JSON.stringify({
  timestamp: "2026-11-20T08:00:00.123Z",
  requestId: "request_1",
  message: { event: "order_cancelled", keyId: key, orderId: "1" },
});

test("a command that uses capacity leaves half of it to the service, and needs only PERMISSIONS.md", async () => {
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
    $ ${reinstate} --since 2020-01-01 --dry-run --env production
    ! production: …
    ${reading}
    ! Would reinstate 0 orders; …
    $ put COPY {"id":2}
    $ orders repair --from COPY --ids - --dry-run --json --env production
    > 2
    {"id":2,"outcome":"placed","was":"pending"}
    {"table":"ORDERS","dryRun":true,…}
    ! production: …
    ${reading}
    ! Would repair ORDERS: …
    $ orders repair --from COPY --env production
    …
    ${reading}
    ${writing}
    ! Repaired ORDERS: 1 placed, …
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

test("a command has a rate for reads and one for writes, and keeps to both", async () => {
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
