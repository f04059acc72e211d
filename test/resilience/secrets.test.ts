import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { apiKeyPattern, makeApiKey } from "../../shared/api-keys.ts";

/** What a credential looks like, of this service and of those around it. */
const shapes = [
  new RegExp(apiKeyPattern("pets_test")),
  new RegExp(apiKeyPattern("pets_live")),
  /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----/,
  /\bgh[pousr]_[0-9A-Za-z]{36}\b|\bgithub_pat_\w{22,}/,
  /\bnpm_[0-9A-Za-z]{36}\b/,
  /_authToken\s*=|aws_secret_access_key\s*=\s*\S/i,
];

const looksSecret = (text: string): string[] => shapes.flatMap((shape) => shape.exec(text)?.[0] ?? []);

test("no file of the repository contains anything that looks like a credential", () => {
  const files = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
    encoding: "utf8",
    cwd: new URL("../..", import.meta.url),
  });
  const names = files.split("\0").filter((name) => name !== "");
  expect(names.length).toBeGreaterThan(50);
  const found = names.flatMap((name) => {
    // Latin-1 reads any bytes, and leaves these shapes as they are.
    const text = readFileSync(new URL(`../../${name}`, import.meta.url), "latin1");
    return looksSecret(text).map((secret) => `${name}: ${secret.slice(0, 12)}...`);
  });
  expect(found).toEqual([]);
});

test("anything that looks like a credential is found", () => {
  const secrets = [
    makeApiKey("pets_test"),
    makeApiKey("pets_live"),
    `AKIA${"A1".repeat(8)}`,
    `-----BEGIN ${"RSA"} PRIVATE KEY-----`,
    `ghp_${"a".repeat(36)}`,
    `npm_${"a".repeat(36)}`,
    `//registry/:_auth${"Token"}=x`,
  ];
  for (const secret of secrets) expect(looksSecret(`const key = "${secret}";`)).toHaveLength(1);
});
