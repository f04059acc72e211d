import { existsSync, globSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { basename, join, matchesGlob } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import packageJson from "../../package.json" with { type: "json" };
import tsconfig from "../../tsconfig.json" with { type: "json" };
import { captured } from "./pages.ts";

interface Entry {
  version: string;
  integrity?: string;
  inBundle?: true;
  optionalDependencies?: Record<string, string>;
}

const { packages }: { packages: Record<string, Entry> } = JSON.parse(
  await readFile("package-lock.json", "utf8"),
);

test("every optional dependency of a tool is locked, for every platform", () => {
  const wanted = Object.values(packages).flatMap(({ optionalDependencies = {} }) =>
    Object.entries(optionalDependencies),
  );
  const isLocked = (name: string, range: string) =>
    Object.entries(packages).some(
      ([path, { version }]) =>
        path.endsWith(`node_modules/${name}`) &&
        (version === range || /^[~^]/.test(range)),
    );
  expect(wanted.filter(([name, range]) => !isLocked(name, range))).toEqual([]);
});

test("SECURITY.md names every package without a hash", async () => {
  const security = await readFile(".github/SECURITY.md", "utf8");
  const named = captured(security, /^- `(.*?)`$/gm);
  const withoutHash = Object.entries(packages).filter(
    ([path, { integrity, inBundle }]) => path && !integrity && !inBundle,
  );
  expect(named).toEqual(withoutHash.map(([path]) => path.replace("node_modules/", "")));
});

test("npm installs exact versions of all, on every machine, and runs none of their scripts", async () => {
  const { dependencies, devDependencies, optionalDependencies } = packageJson;
  expect(packageJson).toMatchObject(packages[""] ?? {});
  const versions = Object.values({
    ...dependencies,
    ...devDependencies,
    ...optionalDependencies,
  });
  expect(versions.filter((version) => /[^\d.]/.test(version))).toEqual([]);
  const npmrc = (await readFile(".npmrc", "utf8")).match(/^\w.*/gm)?.join(" ");
  expect(npmrc).toMatch(
    /resolved=true ignore-scripts=true save-exact=true include\[]=dev include\[]=optional engine-strict=false/,
  );
});

test("npm scripts start all that they are called after", () => {
  const scripts: Record<string, string> = packageJson.scripts;
  const files = globSync("test/**/*.ts");
  for (const [name, line] of Object.entries(scripts)) {
    const [, file] = / node (.*)/.exec(line) ?? [];
    const named = files.filter((file) => basename(file) === `${name}.ts`);
    if (file) expect(named).toContain(file);
  }
  const whole = `${scripts["mutation"]} ${scripts["mutation:stack"]} ${scripts["mutation:tools"]}`;
  for (const file of globSync("test/mutation/*stryker.config.mjs"))
    expect(whole).toContain(file);
  expect(scripts).toMatchObject({
    test: "infra/tools/run vitest run",
    check: "infra/tools/run tsc && biome check --error-on-warnings .",
    fix: "infra/tools/run biome check --write .",
    soak: "npm run load -- --seconds 600 --connections 8 --watch",
    mutation: expect.stringMatching(
      / && npm run mutation:stack && npm run mutation:tools$/,
    ),
  });
});

test("the compiler lets nothing loose pass, and every folder's code is compiled", () => {
  const { compilerOptions, include } = tsconfig;
  expect(Object.keys(compilerOptions)).toEqual(
    expect.arrayContaining([
      "strict",
      "exactOptionalPropertyTypes",
      "noUncheckedIndexedAccess",
      "noImplicitOverride",
      "noImplicitReturns",
      "noFallthroughCasesInSwitch",
      "noPropertyAccessFromIndexSignature",
      "noUnusedLocals",
      "noUnusedParameters",
      "erasableSyntaxOnly",
    ]),
  );
  expect(Object.values(compilerOptions)).not.toContain(false);
  const folders = new Set(globSync("{*,test/*}/*.ts").map((file) => file.split("/")[0]));
  expect(include).toEqual(expect.arrayContaining([...folders]));
});

const { updates } = parse(await readFile(".github/dependabot.yml", "utf8"));

test("Dependabot updates every list of dependencies", () => {
  const folders: string[] = updates.flatMap((update: Record<string, string[]>) =>
    [update["directory"] ?? update["directories"]].flat(),
  );
  const lists = globSync("test/**/{go.mod,pom.xml,requirements.txt}");
  const all = ["/", "/", ...lists.map((file) => join("/", file, ".."))];
  expect(folders.sort()).toEqual(all.sort());
});

test.each([
  ["Node", ["node-", "@types/node"]],
  ["the SDK", ["@aws-sdk/", "@smithy/"]],
  ["CDK", ["aws-cdk", "constructs", "cdk-nag"]],
  ["middy", ["@middy/"]],
  ["Stryker", ["@stryker-mutator/"]],
  ["the engine", ["@dynoxide/"]],
])("Dependabot moves all packages of %s at once", (_what, beginnings) => {
  const [{ groups }] = updates;
  const groupOf = (name: string) =>
    Object.keys(groups).find((group) =>
      groups[group].patterns.some((pattern: string) => matchesGlob(name, pattern)),
    );
  const { dependencies, devDependencies, optionalDependencies } = packageJson;
  const names = Object.keys({
    ...dependencies,
    ...devDependencies,
    ...optionalDependencies,
  });
  const inOne = names.filter((name) => beginnings.some((text) => name.startsWith(text)));
  const found = new Set(inOne.map(groupOf));
  expect([...found]).toEqual([expect.any(String)]);
});

test("Dependabot moves neither Node.js nor CDK's command line to a new major", () => {
  const [{ groups, ignore }] = updates;
  const major = { "update-types": ["version-update:semver-major"] };
  const held = ["aws-cdk", ...groups.node.patterns];
  expect(ignore).toEqual(
    expect.arrayContaining(held.map((name) => ({ "dependency-name": name, ...major }))),
  );
});

test("code owners review whole folders, and a file that exists", async () => {
  const owners = await readFile(".github/CODEOWNERS", "utf8");
  const owned = captured(owners, /^\/(\S+) +@OWNER/gm);
  expect(owned.filter((path) => !existsSync(path))).toEqual([]);
});
