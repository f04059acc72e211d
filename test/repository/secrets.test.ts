import { readFileSync } from "node:fs";
import { glob } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
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

const looksSecret = (text: string): string[] =>
  shapes.flatMap((shape) => shape.exec(text)?.[0] ?? []);

/** The files that are in the repository or could be added to it. Git need not be installed. */
async function repositoryFiles(): Promise<string[]> {
  const root = fileURLToPath(new URL("../..", import.meta.url));
  const ignored = readFileSync(join(root, ".gitignore"), "utf8").split("\n");
  const entries = glob(["**", "**/.*", "**/.*/**"], {
    cwd: root,
    withFileTypes: true,
    exclude: ({ name }) => name === ".git" || ignored.includes(`${name}/`),
  });
  const files = await Array.fromAsync(entries);
  return files
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
}

test("no file of the repository contains anything that looks like a credential", async () => {
  const files = await repositoryFiles();
  // The local stack keeps its keys there.
  expect(readFileSync(".gitignore", "utf8").split("\n")).toContain(".local/");
  for (const name of [
    "package.json",
    ".npmrc",
    ".github/workflows/ci.yml",
    "test/repository/secrets.test.ts",
  ]) {
    expect(files).toContainEqual(expect.stringMatching(new RegExp(`/${name}$`)));
  }
  const found = files.flatMap((file) => {
    // Latin-1 reads any bytes, and leaves these shapes as they are.
    const text = readFileSync(file, "latin1");
    return looksSecret(text).map((secret) => `${file}: ${secret.slice(0, 12)}...`);
  });
  expect(found).toEqual([]);
});
