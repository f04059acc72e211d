import { expect, test } from "vitest";
import { environments } from "../../../infra/environments.ts";
import { hashApiKey, makeApiKey } from "../../../shared/api-keys.ts";
import { type Choice, onEvery } from "../../helpers/faults/fault-proxy.ts";
import { applied, rejectedAs } from "../../helpers/faults/faults.ts";
import { run } from "../run.ts";
import { pagesOf } from "./calls.ts";
import { createTerminal } from "./terminal.ts";

const { items, play, playIn, putKey } = await createTerminal();
const { apiKeyPrefix: prefix, authorizerCacheSeconds } = environments.staging;
const now = "2027-01-15T08:00:00Z";
const atNow = Date.parse(now) / 1000;

test("keys of every page are listed by creation time, then by id, read consistently", async () => {
  const { sent } = await playIn({ now, calls: onEvery("Scan", pagesOf(1)) })`
    $ keys list
    No keys yet.
    $ keys list --json
    []
    $ put KEYS {"keyId":"key_4","name":"d","createdAt":1700000003,"revokedAt":1700000004}
    $ put KEYS {"keyId":"key_3","name":"c","createdAt":1700000003,"revokedAt":1700000004}
    $ put KEYS {"keyId":"key_1","name":"a","createdAt":1700000001,"expiresAt":1700000002}
    $ put KEYS {"keyId":"key_2","name":"b","createdAt":1700000000}
    $ keys list
    KEY ID  NAME  CREATED AT            EXPIRES AT            REVOKED AT            STATE
    key_2   b     2023-11-14T22:13:20Z  never                 never                 active
    key_1   a     2023-11-14T22:13:21Z  2023-11-14T22:13:22Z  never                 expired
    key_3   c     2023-11-14T22:13:23Z  never                 2023-11-14T22:13:24Z  revoked
    key_4   d     2023-11-14T22:13:23Z  never                 2023-11-14T22:13:24Z  revoked
    $ keys list --active --json
    [{"keyId":"key_2","name":"b","createdAt":"2023-11-14T22:13:20Z",\
    "expiresAt":null,"revokedAt":null,"state":"active"}]
  `;
  const scans = sent.filter(({ operation }) => operation === "Scan");
  expect(scans.length).toBeGreaterThan(2 * 4);
  expect(scans.every(({ ConsistentRead }) => ConsistentRead)).toBe(true);
});

test("a key is revoked once, and nothing else of its record changes", () => playIn({
  now,
})`
  $ put KEYS {"keyId":"key_1111111111111111","tier":"gold"}
  $ put KEYS {"keyId":"key_2222222222222222","expiresAt":1}
  $ keys revoke key_1111111111111111
  Revoked key_1111111111111111 (test). \
  The gateway's cache may still accept it for up to ${authorizerCacheSeconds} seconds.
  $ keys revoke key_1111111111111111
  key_1111111111111111 (test) was already revoked at ${now}. \
  The gateway's cache may still accept it for up to ${authorizerCacheSeconds} seconds.
  $ put KEYS {"keyId":"key_3333333333333333","revokedAt":1700000000}
  $ keys revoke key_3333333333333333
  key_3333333333333333 (test) was already revoked at 2023-11-14T22:13:20Z
  $ keys revoke key_3333333333333333 --json
  {…,"revokedAt":"2023-11-14T22:13:20Z","state":"revoked","acceptedForUpToSeconds":0}
  $ put KEYS {"keyId":"key_4444444444444444","revokedAt":${atNow + 60}}
  $ keys revoke key_4444444444444444
  … The gateway's cache may still accept it for up to ${authorizerCacheSeconds} seconds.
  $ keys revoke key_6666666666666666
  ! No key has the id key_6666666666666666
  exit 1
  $ keys list --active
  No active keys.
  $ put COPY {"keyId":"key_5"}
  $ keys list --active --table COPY
  …
  key_5 …
  $ keys revoke key_2222222222222222 --json
  {"keyId":"key_2222222222222222","name":"test","createdAt":"1970-01-01T00:00:00Z",\
  "expiresAt":"1970-01-01T00:00:01Z","revokedAt":"${now}","state":"revoked",\
  "acceptedForUpToSeconds":${authorizerCacheSeconds}}
  $ table KEYS
  {"keyId":"key_1111111111111111","createdAt":0,"name":"test","revokedAt":${atNow},"tier":"gold"}
  {"keyId":"key_2222222222222222","createdAt":0,"expiresAt":1,"name":"test","revokedAt":${atNow}}
  {"keyId":"key_3333333333333333","createdAt":0,"name":"test","revokedAt":1700000000}
  {"keyId":"key_4444444444444444","createdAt":0,"name":"test","revokedAt":${atNow + 60}}
`);

test("an issued key is printed alone, once", () => playIn({ now })`
  $ keys issue --name ' Acme '
  ${prefix}_SECRET
  ! Issued key_… to Acme; it never expires. Save the key now: it can't be shown again.
  $ keys issue --name B --expires 2027-01-15 --json
  {"key":"${prefix}_SECRET","keyId":"key_…","name":"B","createdAt":"${now}",\
  "expiresAt":"2027-01-15T23:59:59Z","revokedAt":null,"state":"active"}
  ! Issued key_… to B; it expires at 2027-01-15T23:59:59Z. \
  Save the key now: it can't be shown again.
  $ keys issue --name C --expires 2999-12-31T00:00:00.5Z
  …
  ! Issued key_… to C; it expires at 2999-12-31T00:00:00Z. …
`);

// What is stored with it: test/integration/tables.test.ts.
test("the printed key is the one whose hash is stored", async () => {
  const { stdout } = await run("keys issue --name Acme --local");
  const keyHash = { S: hashApiKey(stdout.trimEnd()) };
  expect(await items("apiKeys")).toMatchObject([{ keyHash }]);
});

test("a key that may have been issued or revoked, its response lost, is said to be so", () => {
  const lost = applied["a status of a proxy"];
  const denied = rejectedAs("AccessDeniedException", "no");
  const calls: Choice = ({ operation, input }) =>
    /^(Put|Update)/.test(operation) ? (/Zoo/.test(input) ? denied : lost) : undefined;
  return playIn({ calls })`
    $ keys issue --name Acme
    ! DynamoDB's response was incomplete or malformed (HTTP 418). Acme may have a key now: \
    find it with … --active…, and revoke it
    exit 1
    $ keys issue --name Zoo
    ! AWS denied access: no
    exit 1
    $ put KEYS {"keyId":"key_1111111111111111"}
    $ keys revoke key_1111111111111111
    ! DynamoDB's response was incomplete or malformed (HTTP 418). The write may have been applied
    exit 1
  `;
});

test("odd records of keys are listed as far as they can be", () => play`
  $ put KEYS {"keyId":"key_1","revokedAt":9007199254740991}
  $ put KEYS {"keyId":"key_2","createdAt":"yesterday"}
  $ keys list
  KEY ID  NAME  CREATED AT            EXPIRES AT  REVOKED AT                     STATE
  key_1   test  1970-01-01T00:00:00Z  never       9007199254740991 s after 1970  revoked
  ! Skipped 1 damaged record: the service rejects such keys
`);

test("names that could control the terminal are escaped", async () => {
  const name = "\u001b]0;owned\u0007\u009b31m\u202emca";
  const key = await putKey({ keyId: "key_1111111111111111", name }, makeApiKey(prefix));
  await play`
    $ keys check
    > ${key}
    Accepted: key_1111111111111111 (\u{1b}]0;owned\u{7}\u{9b}31m\u{202e}mca)
    $ keys list
    KEY ID                NAME                                     CREATED AT …
    key_1111111111111111  \u{1b}]0;owned\u{7}\u{9b}31m\u{202e}mca  1970-01-01T00:00:00Z …
    $ keys list --json
    [{"keyId":"key_1111111111111111","name":"\u001b]0;owned\u0007\u009b31m\u202emca",…}]
  `;
});

test("a name may have 200 characters, with those that join letters and emoji", async () => {
  const joined = "\u{1f469}\u200d\u{1f467}\u06cc\u200c\u{1f3f4}\u{e0067}\u{e007f}";
  const name = `Acme ${joined}${"\u{1f600}".repeat(182)} shop`;
  await play`
    $ keys issue --name '${name}' --expires 9999-12-31
    ${prefix}_SECRET
    ! Issued key_… to ${name}; it expires at 9999-12-31T23:59:59Z. …
    $ keys list --json
    [{…,"name":"${name}",…}]
  `;
});

test("a key is checked by the authorizer's rules, and never shown", async () => {
  const issued = (keyId: string, record: object) =>
    putKey({ keyId, ...record }, makeApiKey(prefix));
  const active = await issued("key_1", {});
  const unknown = makeApiKey(prefix);
  await playIn({ now })`
    $ keys check
    >   ${active}  ${"\r"}
    Accepted: key_1 (test)
    $ keys check
    > "authorization: Bearer ${active}"
    Accepted: key_1 (test)
    $ keys check
    > 'Bearer ${active}'
    Accepted: key_1 (test)
    $ keys check --json
    > ${active}
    {"accepted":true,"keyId":"key_1",…,"state":"active"}
    $ keys check
    > ${await issued("key_2", { expiresAt: atNow + 1 })}
    Accepted until 2027-01-15T08:00:01Z: key_2 (test)
    $ keys check
    > ${await issued("key_3", { expiresAt: atNow })}
    Rejected: expired at ${now} (key_3)
    exit 1
    $ keys check --json
    > ${await issued("key_4", { expiresAt: 1, revokedAt: atNow })}
    {"accepted":false,"reason":"revoked at ${now}","keyId":"key_4"}
    exit 1
    $ keys check
    > ${await issued("key_5", { createdAt: 0.5 })}
    Rejected: its record is damaged
    exit 1
    $ keys check
    > ${unknown}
    Rejected: no such key was issued here
    exit 1
    $ keys check --json
    > ${unknown}!
    {"accepted":false,"reason":"malformed or mistyped","keyId":null}
    exit 1
    $ keys check
    > ${makeApiKey("pets_another")}
    Rejected: keys for this environment start with ${prefix}_
    exit 1
    $ keys check
    >
    ! Standard input has no key
    exit 1
  `;
});
