import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "../helpers/admin-command.ts";

test.each([
  ["infra/README.md", ["ApiKeys"]],
  ["infra/PERMISSIONS.md", ["Orders", "ApiKeys"]],
  ["shared/ORDERS-TABLE.md", ["Orders"]],
])("restored tables fit the policies in %s", async (page, kinds) => {
  const text = await readFile(join(root, page), "utf8");
  const patterns = [...text.matchAll(/"arn:aws:dynamodb:REGION:ACCOUNT:table\/(.*?)\*"/g)];
  const start = String(patterns[0]?.[1]).replace(
    /^[\w-]+?(?=-(?:Orders|ApiKeys)?$)/,
    "PetStoreOrders-any",
  );
  for (const kind of kinds)
    expect(`PetStoreOrders-any-${kind}-20261120080005`.startsWith(start)).toBe(true);
  // CDK puts no hyphen before what it adds to the name of the stack's own.
  for (const kind of kinds) expect(`PetStoreOrders-any-${kind}7B9C`.startsWith(start)).toBe(true);
});
