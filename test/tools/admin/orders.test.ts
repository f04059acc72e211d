import { expect, test } from "vitest";
import { onEvery } from "../../helpers/faults/fault-proxy.ts";
import { pagesOf } from "./calls.ts";
import { createTerminal } from "./terminal.ts";

const { play, playIn, playWatched } = await createTerminal();

test("an order is shown with every attribute, and the name of its key", async () => {
  const { sent } = await playWatched`
  $ put {"id":-9223372036854775808,"petId":9007199254740993,"complete":false,\
  "status":"cancelled","cancelledAt":"2026-11-20T08:00:00.000Z",\
  "cancelledBy":"key_1111111111111111","cancellationId":"5f3f",\
  "otherAttributes":{"gift":{"L":[{"B":"AP8="}]}}}
  $ put {"id":2,"status":"cancelled","cancelledBy":"key_2222222222222222"}
  $ put {"id":{"N":"7"},"status":{"S":"held\u001b[2J"}}
  $ put KEYS {"keyId":"key_0000000000000000","name":"Another"}
  $ put KEYS {"keyId":"key_1111111111111111","name":"Acme \u0007shop","revokedAt":1}
  $ orders show -- -9223372036854775808
  id               -9223372036854775808
  status           cancelled
  petId            9007199254740993
  complete         false
  cancelledBy      key_1111111111111111
  cancellationId   5f3f
  cancelledAt      2026-11-20T08:00:00.000Z
  cancelledByName  Acme \u{7}shop
  gift             {"L":[{"B":"AP8="}]}
  $ orders show --json -- -9223372036854775808
  {"id":-9223372036854775808,"status":"cancelled","petId":9007199254740993,"complete":false,\
  "cancelledBy":"key_1111111111111111","cancellationId":"5f3f",\
  "cancelledAt":"2026-11-20T08:00:00.000Z","cancelledByName":"Acme \u0007shop",\
  "gift":{"L":[{"B":"AP8="}]},"omittedFields":{}}
  $ orders show 2
  id           2
  status       cancelled
  cancelledBy  key_2222222222222222
  $ orders show 7 --json
  {"id":7,"status":"held\u001b[2J","omittedFields":{}}
  $ orders show 5
  ! No order has the id 5
  exit 1
  `;
  for (const { operation, RequestItems } of sent)
    if (operation === "BatchGetItem")
      expect(RequestItems?.ORDERS?.ConsistentRead).toBe(true);
});

test("orders are listed in columns or as lines of an orders file, and counted", () =>
  playIn({ calls: onEvery("Scan", pagesOf(4)) })`
  $ put {"id":-9223372036854775808,"petId":9007199254740993,"complete":false,\
  "status":"cancelled","cancelledBy":"key_1111111111111111"}
  $ put {"id":9223372036854775807,"status":"cancelled","cancelledBy":"key_2222222222222222"}
  $ put {"id":1,"quantity":3,"shipDate":"2026-12-24T00:00:00Z","status":"pending"}
  $ put {"id":{"N":"2"},"status":{"S":"held\u001b"},"cancelledBy":{"S":"key_2222222222222222"}}
  $ put {"id":{"N":"4"},"status":{"S":"cancelled"},"cancelledBy":{"S":"key_22222222222222222"}}
  $ orders count
  STATUS     ORDERS
  pending    1
  shipped    0
  cancelled  3
  other      1
  total      5
  $ orders list --status cancelled --cancelled-by key_2222222222222222 --json
  {"id":9223372036854775807,"status":"cancelled","cancelledBy":"key_2222222222222222"}
  $ orders list --status other --json
  {"id":2,…}
  $ orders list --cancelled-by key_3333333333333333 --json
  ! No key has the id key_3333333333333333
  exit 1
  $ put KEYS {"keyId":"key_3333333333333333"}
  $ orders list --cancelled-by key_3333333333333333 --json
  $ put {"id":{"N":"1.5"}}
  $ orders list | sort
  -9223372036854775808  cancelled  9007199254740993      -         false     -\
                              key_1111111111111111
  1                     pending    -                     3         -         2026-12-24T00:00:00Z\
           -
  1.5                   -          -                     -         -         -\
                              -
  2                     held\u{1b}  -                     -         -         -\
                              key_2222222222222222
  4                     cancelled  -                     -         -         -\
                              key_22222222222222222
  9223372036854775807   cancelled  -                     -         -         -\
                              key_2222222222222222
  ID                    STATUS     PET ID                QUANTITY  COMPLETE  SHIP DATE\
                      CANCELLED BY
  $ orders count --json
  {"pending":1,"shipped":0,"cancelled":3,"other":2,"total":6,"omittedFields":{"id":1}}
  …
`);

test("values that clients don't see are marked and counted", () => play`
  $ put {"id":1,"quantity":3,"shipDate":"2026-12-24T12:00:00Z","complete":true}
  $ put {"id":{"N":"2"},"quantity":{"S":"3"},"shipDate":{"S":"2026-12-24T12:00:00"},"complete":{"S":"yes"}}
  $ put {"id":{"N":"3"},"petId":{"N":"9223372036854775808"},"shipDate":{"S":"2026-12-24"}}
  $ orders show 2
  id        2
  quantity  3                    (clients don't see it)
  complete  yes                  (clients don't see it)
  shipDate  2026-12-24T12:00:00  (clients don't see it)
  $ orders show 3 --json
  {"id":3,"petId":"9223372036854775808","shipDate":"2026-12-24",\
  "omittedFields":{"petId":1,"shipDate":1}}
  $ orders count
  …
  total      3
  ! Values that clients don't see: …2 ship date…
`);

test("a list as JSON names an order that it skips, even on an earlier page", () =>
  playIn({ calls: onEvery("Scan", pagesOf(1)) })`
  $ put {"id":1}
  $ put {"id":{"N":"1.5"}}
  $ put {"id":2}
  $ orders list --json | sort
  {"id":1,"status":"pending"}
  {"id":2,"status":"pending"}
  ! Order 1.5 skipped: id is not a 64-bit integer
  exit 1
`);
