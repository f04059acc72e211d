import { expect, test } from "vitest";
import { createTerminal } from "./terminal.ts";

const { playWatched } = await createTerminal();

test("keys are as they were issued, and stay revoked, with no other read or write", async () => {
  const { sent } = await playWatched`
    $ put COPY {"keyId":"key_endless","expiresAt":2}
    $ put COPY {"keyId":"key_ended"}
    $ put COPY {"keyId":"key_lost"}
    $ put COPY {"keyId":"key_revived","revokedAt":2}
    $ put COPY {"keyId":"key_since"}
    $ put COPY {"keyId":"key_twice","revokedAt":2}
    $ put COPY {"keyId":"key_unnamed","name":null}
    $ put KEYS {"keyId":"key_endless"}
    $ put KEYS {"keyId":"key_ended","expiresAt":2}
    $ put KEYS {"keyId":"key_revived"}
    $ put KEYS {"keyId":"key_since","revokedAt":9}
    $ put KEYS {"keyId":"key_twice","revokedAt":9,"name":"other","createdAt":9}
    $ put KEYS {"keyId":"key_unnamed"}
    $ put KEYS {"keyId":"key_new"}
    $ keys repair --from COPY --dry-run --json | sort
    {"id":"key_ended","outcome":"repaired"}
    {"id":"key_endless","outcome":"repaired"}
    {"id":"key_lost","outcome":"placed"}
    {"id":"key_new","outcome":"onlyLive"}
    {"id":"key_revived","outcome":"repaired"}
    {"id":"key_since","outcome":"differing"}
    {"id":"key_twice","outcome":"repaired"}
    {"id":"key_unnamed","outcome":"differing"}
    {"table":"KEYS","dryRun":true,…}
    …
    $ keys repair --from COPY | sort
    key_ended
    key_endless
    key_lost
    key_revived
    key_twice
    ! Repaired KEYS: 1 placed, 4 repaired, 0 same, 2 differing, 0 changed since, \
    0 reinstated, 0 contradictory, 1 only live, 0 in neither
    ! key_new is only in the live table
    ! key_since differs in revokedAt
    ! key_twice differs in revokedAt
    ! key_unnamed differs in name
    ! FIELD      DIFFERED IN
    ! createdAt  1
    ! expiresAt  2
    ! name       2
    ! revokedAt  3
    $ table KEYS
    {"keyId":"key_ended","createdAt":0,"name":"test"}
    {"keyId":"key_endless","createdAt":0,"expiresAt":2,"name":"test"}
    {"keyId":"key_lost","createdAt":0,"name":"test"}
    {"keyId":"key_new","createdAt":0,"name":"test"}
    {"keyId":"key_revived","createdAt":0,"name":"test","revokedAt":2}
    {"keyId":"key_since","createdAt":0,"name":"test","revokedAt":9}
    {"keyId":"key_twice","createdAt":0,"name":"test","revokedAt":9}
    {"keyId":"key_unnamed","createdAt":0,"name":"test"}
  `;
  const operations = sent.map(({ operation }) => operation).sort();
  expect(operations.join(" ")).toBe(
    "BatchGetItem BatchGetItem BatchGetItem BatchGetItem DescribeTable DescribeTable " +
      "PutItem Scan Scan Scan Scan UpdateItem UpdateItem UpdateItem UpdateItem",
  );
});
