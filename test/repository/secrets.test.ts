import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { apiKeyPattern } from "../../shared/api-keys.ts";

/** The forms of credentials, of this service and of those around it. */
const shapes = [
  new RegExp(apiKeyPattern("pets_[0-9a-z]+")),
  /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----/,
  /\bgh[pousr]_[0-9A-Za-z]{36}\b|\bgithub_pat_\w{22,}/,
  /\bnpm_[0-9A-Za-z]{36}\b/,
  /_authToken\s*=|aws_secret_access_key\s*=\s*[^\s$]/i,
];

const looksSecret = (text: string) =>
  shapes.flatMap((shape) => shape.exec(text)?.[0] ?? []);

const ignored = readFileSync(".gitignore", "utf8").split("\n");

/** The files that are in the repository or could be added to it. Git need not be installed. */
const files = globSync(["**", "**/.*", "**/.*/**"], {
  withFileTypes: true,
  exclude: ({ name }) => name === ".git" || ignored.includes(`${name}/`),
})
  .filter((entry) => entry.isFile())
  .map(({ parentPath, name }) => join(parentPath, name));

test("no file of the repository contains anything that looks like a credential", () => {
  // The local stack keeps its engine's address in .local.
  const written = ["node_modules/", "cdk.out/", ".local/", "reports/"];
  expect(ignored).toEqual(expect.arrayContaining(written));
  const some = [
    "package.json",
    ".npmrc",
    ".github/workflows/ci.yml",
    "infra/stack/settings.ts",
  ];
  expect(files).toEqual(expect.arrayContaining(some));
  const found = files.flatMap((file) => {
    // Latin-1 reads any bytes, and leaves these shapes as they are.
    const secrets = looksSecret(readFileSync(file, "latin1"));
    return secrets.map((secret) => `${file}: ${secret.slice(0, 12)}...`);
  });
  expect(found).toEqual([]);
});
