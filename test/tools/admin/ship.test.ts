import { constants } from "node:os";
import { expect, test, vi } from "vitest";
import {
  type Behaviour,
  justBefore,
  onEvery,
  passOn,
} from "../../helpers/faults/fault-proxy.ts";
import {
  applied,
  rejectedAs,
  unapplied,
  unnoticed,
} from "../../helpers/faults/faults.ts";
import { onFirst } from "./calls.ts";
import { createTerminal } from "./terminal.ts";

const { playIn, playWatched, put } = await createTerminal();
const noon = "2026-11-20T12:00:00.000001Z";

/** What becomes of the write of each order, by its id. */
const onOrders = (behaviours: Record<string, Behaviour>) =>
  onEvery("UpdateItem", (exchange) =>
    (behaviours[JSON.parse(exchange.input).Key.id.N] ?? passOn)(exchange),
  );

test("pending orders are shipped in one write each, and all others stay as they are", async () => {
  const { sent } = await playWatched`
    $ put {"id":1,"quantity":3,"shipDate":"2026-12-24T00:00:00Z","complete":false,\
    "status":"pending","otherAttributes":{"colour":{"S":"red"}}}
    $ put {"id":2,"shipDate":"2026-11-01T00:00:00Z","status":"shipped"}
    $ put {"id":3,"shipDate":"${noon}","complete":true,"status":"shipped"}
    $ put {"id":4,"status":"cancelled"}
    $ put {"id":{"N":"6"},"status":{"S":"held\u001b"}}
    $ put {"id":7,"status":null}
    $ orders ship 4 1 2 3 5 6 7 --date ${noon} --json
    {"id":4,"outcome":"cancelled"}
    {"id":1,"outcome":"shipped","shipDate":"${noon}"}
    {"id":2,"outcome":"already_shipped","shipDate":"2026-11-01T00:00:00Z"}
    {"id":3,"outcome":"already_shipped","shipDate":"${noon}"}
    {"id":5,"outcome":"not_found"}
    {"id":6,"outcome":"not_pending","status":"held\u001b"}
    {"id":7,"outcome":"not_pending"}
    ! 7 orders: 1 shipped, 2 already shipped, 1 cancelled, 1 not found, 2 not pending
    exit 6
    $ table
    {"id":1,"quantity":3,"shipDate":"${noon}","complete":true,"status":"shipped",\
    "otherAttributes":{"colour":{"S":"red"},"shipmentId":{"S":"…"}}}
    {"id":2,"shipDate":"2026-11-01T00:00:00Z","status":"shipped"}
    {"id":3,"shipDate":"${noon}","complete":true,"status":"shipped"}
    {"id":4,"status":"cancelled"}
    {"id":6,"otherAttributes":{"status":{"S":"held\u001b"}}}
    {"id":7,"status":null}
    $ orders ship 6 7
    Order 6 is not pending and can't ship: held\u{1b}
    Order 7 is not pending and can't ship
    ! 2 orders: 2 not pending
    exit 6
  `;
  expect(sent.filter(({ operation }) => operation === "UpdateItem")).toHaveLength(7 + 2);
});

test("orders ship now or at the start of a day, and their ids may be in a file or a pipe", () =>
  playIn({ now: "2026-11-21T10:00:00Z" })`
    $ put {"id":-1}
    $ put {"id":7}
    $ put {"id":8}
    $ put {"id":9007199254740993,"status":"cancelled"}
    $ save ids.txt
    > ${"\ufeff"}7
    $ orders ship --file ids.txt --date 2026-11-20
    Order 7 has shipped: 2026-11-20T00:00:00Z
    $ orders ship
    >  9007199254740993
    > ${"\r"}
    > -1${"\r"}
    > 9007199254740993
    Order 9007199254740993 is cancelled and can't ship
    Order -1 has shipped: 2026-11-21T10:00:00.000Z
    ! 2 orders: 1 shipped, 1 cancelled
    exit 4
    $ orders ship --file - --json
    > -1
    {"id":-1,"outcome":"already_shipped","shipDate":"2026-11-21T10:00:00.000Z"}
    exit 3
    $ save bad.txt
    > 8
    >
    > 08
    $ orders ship --file bad.txt
    ! error: bad.txt:3: not a 64-bit integer: nothing was changed
    ! (see --help)
    exit 2
    $ orders ship
    >
    ! error: standard input has no order ids: nothing was changed
    ! (see --help)
    exit 2
    $ table
    {"id":-1,"shipDate":"2026-11-21T10:00:00.000Z","complete":true,"status":"shipped",…}
    {"id":7,"shipDate":"2026-11-20T00:00:00Z","complete":true,"status":"shipped",…}
    {"id":8,"status":"pending"}
    {"id":9007199254740993,"status":"cancelled"}
  `);

test("an order counts as shipped if only the response to its write is lost, and an older proof goes", async () => {
  const { sent } = await playIn({
    calls: onFirst("UpdateItem", applied["reset after the engine"]),
  })`
    $ put {"id":1,"shipDate":"${noon}","otherAttributes":{"shipmentId":{"S":"parcel-1"}}}
    $ orders ship 1 --date ${noon}
    Order 1 has shipped: ${noon}
    $ table
    {…,"otherAttributes":{"shipmentId":{"S":"…-…-…-…-…"}}}
  `;
  expect(sent.filter(({ operation }) => operation === "UpdateItem")).toHaveLength(2);
});

test("an order counts as already shipped if someone else ships it before a retry", () => {
  const calls = onFirst("UpdateItem", async (exchange) => {
    const line = `{"id":1,"shipDate":"${noon}","complete":true,"status":"shipped"}`;
    await put(line);
    unapplied["500 of the service"](exchange);
  });
  return playIn({ calls })`
    $ put {"id":1}
    $ orders ship 1 --date ${noon}
    Order 1 had already shipped: ${noon}
    exit 3
  `;
});

test("an order may have shipped if its first attempt was lost, whatever ends the retries", () => {
  vi.spyOn(Math, "random").mockReturnValue(0);
  let attempts = 0;
  const calls = onEvery("UpdateItem", (exchange) => {
    attempts += 1;
    if (attempts === 1) return applied["reset after the engine"](exchange);
    // Three attempts are one call of the client's, which is made again.
    if (attempts <= 3) return unapplied["throttled by the table"](exchange);
    return rejectedAs("AccessDeniedException", "not authorized")(exchange);
  });
  return playIn({ calls })`
    $ put {"id":1}
    $ orders ship 1 --date ${noon}
    Order 1 may have shipped or not: shipment …, AWS denied access: not authorized
    exit 7
  `;
});

test("an order that is throttled for a minute, or whose responses are lost, is unknown", () => {
  vi.spyOn(Math, "random").mockReturnValue(0);
  const calls = onOrders({
    1: unapplied["throttled by the table"],
    3: applied["a response that isn't HTTP"],
    4: unnoticed["an empty response of no length"],
  });
  return playIn({ calls })`
    $ put {"id":1}
    $ put {"id":2}
    $ put {"id":3}
    $ put {"id":4}
    $ orders ship 1 2 3 4 --date ${noon}
    Order 1 may have shipped or not: shipment …, …
    Order 2 has shipped: ${noon}
    Order 3 may have shipped or not: shipment …, No whole response from the service \
    (HPE_INVALID_CONSTANT)
    Order 4 may have shipped or not: shipment …, DynamoDB's response was incomplete or malformed \
    (HTTP 200)
    ! 4 orders: 1 shipped, 3 unknown
    exit 7
    $ table
    {"id":1,"status":"pending"}
    {"id":2,…,"status":"shipped",…}
    {"id":3,…,"status":"shipped",…}
    {"id":4,…,"status":"shipped",…}
  `;
});

test("an order whose every response is lost is unknown, with its own exit code", () => {
  const calls = onOrders({
    1: applied["500 after the engine"],
    3: rejectedAs("AccessDeniedException", "not authorized"),
  });
  return playIn({ calls })`
    $ put {"id":1}
    $ put {"id":2}
    $ orders ship 3 1 2 --date ${noon}
    Order 1 may have shipped or not: shipment …, Unexpected error: InternalServerError: …
    Order 2 has shipped: ${noon}
    ! 3 orders: 1 shipped, 1 not tried, 1 unknown
    ! AWS denied access: not authorized
    exit 7
  `;
});

test("orders are reported in the order of their ids, whichever ends first", () => {
  const { promise: second, resolve } = Promise.withResolvers<void>();
  const calls = onOrders({
    1: (exchange) => second.then(() => passOn(exchange)),
    2: async (exchange) => {
      await passOn(exchange);
      resolve();
    },
  });
  return playIn({ calls })`
    $ put {"id":1,"status":"cancelled"}
    $ orders ship 1 2
    Order 1 is cancelled and can't ship
    Order 2 does not exist
    ! 2 orders: 1 cancelled, 1 not found
    exit 5
  `;
});

test("an order that waits for its turn when the command is interrupted was not tried", () =>
  playIn({ calls: justBefore("UpdateItem", async () => process.emit("SIGINT")) })`
    $ put {"id":1}
    $ put {"id":2}
    $ orders ship 1 2 --rate 1 --date ${noon}
    Order 1 has shipped: ${noon}
    ! Using at most 1 write units a second (--rate)
    ! 2 orders: 1 shipped, 1 not tried
    ! Interrupted. Run it again for the rest.
    exit 1
  `);

test("a command whose results no one reads any more stops", () => {
  const closed = { code: "EPIPE", errno: -constants.errno.EPIPE, syscall: "write" };
  let hasReader = true;
  const calls = justBefore("UpdateItem", async () => {
    if (hasReader)
      process.stdout.emit("error", Object.assign(new Error("write"), closed));
    hasReader = false;
  });
  return playIn({ calls })`
    $ orders ship ${Array.from({ length: 60 }, (_, id) => id).join(" ")}
    …
    ! 60 orders: …, … not tried
    ! Standard output can't be written: broken pipe. Run it again for the rest.
    exit 1
  `;
});
