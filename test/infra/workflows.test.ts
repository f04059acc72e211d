import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";

const directory = new URL("../../.github/workflows/", import.meta.url);
const workflows = readdirSync(directory).map((name) => [name, readFileSync(new URL(name, directory), "utf8")] as const);

describe.each(workflows)("the workflow %s", (_name, text) => {
  test("pins every action it did not bring by its commit, and says which version that is", () => {
    const foreign = [...text.matchAll(/uses: (?!\.\/)(.*)/g)].map(([, action]) => action);
    for (const action of foreign) expect(action).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  });

  test("stores no credentials", () => {
    expect(text).not.toMatch(/secrets|aws-access-key-id|AWS_SECRET/);
    const checkouts = text.match(/actions\/checkout/g)?.length ?? 0;
    expect(text.match(/persist-credentials: false/g)?.length ?? 0).toBe(checkouts);
  });

  test("may do nothing but read the code, and ask AWS for a role where it deploys", () => {
    const granted = [...text.matchAll(/^ +([a-z-]+): (?:read|write)$/gm)].map(([grant]) => grant.trim());
    expect(text).toMatch(/^permissions:(?: \{\}|\n {2}contents: read)$/m);
    expect(["contents: read", "id-token: write"]).toEqual(expect.arrayContaining(granted));
  });

  test("puts nothing that a caller chose into a shell's text", () => {
    for (const line of text.split("\n").filter((each) => /^ +(- )?run:|^ {10}/.test(each))) {
      if (!/^ +(ref|role-to-assume|aws-region):/.test(line)) expect(line).not.toContain("${{");
    }
  });
});

test("production is deployed after staging has been smoke-tested", () => {
  const deploy = readFileSync(new URL("deploy.yml", directory), "utf8");
  const one = readFileSync(new URL("deploy-environment.yml", directory), "utf8");
  expect(deploy).toMatch(/staging:\n {4}needs: ci\n.*production:\n {4}needs: staging\n/s);
  expect(one).toMatch(/npm run deploy.*npm run smoke/s);
  expect(one).toMatch(/^ {4}environment: \$\{\{ inputs\.environment \}\}$/m);
});
