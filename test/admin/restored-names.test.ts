import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "../helpers/admin-command.ts";

const stackName = "PetStoreOrders-any";

const policies = [
  ["ApiKeys", "infra/README.md"],
  ["Orders", "infra/PERMISSIONS.md"],
  ["ApiKeys", "infra/PERMISSIONS.md"],
  ["Orders", "shared/ORDERS-TABLE.md"],
] as const;

/** The start of the names that the page's first policy for tables allows, with our stack's name. */
async function allowedStart(page: string): Promise<string> {
  const text = await readFile(join(root, page), "utf8");
  const resource = /"arn:aws:dynamodb:REGION:ACCOUNT:table\/(.*?)\*"/.exec(text);
  return String(resource?.[1]).replace(/^[\w-]+?(?=-(?:Orders|ApiKeys)?$)/, stackName);
}

test.each(policies)("the policy for %s in %s allows a restored table", async (kind, page) => {
  const restored = `${stackName}-${kind}-20261120080005`;
  expect(restored.startsWith(await allowedStart(page))).toBe(true);
});

test.each(policies)("the policy for %s in %s allows the stack's own table", async (kind, page) => {
  // CDK puts no hyphen before what it adds to the name.
  const own = `${stackName}-${kind}7B9C`;
  expect(own.startsWith(await allowedStart(page))).toBe(true);
});
