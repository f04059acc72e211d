import { existsSync, globSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { matchesGlob } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import biome from "../../biome.json" with { type: "json" };
import packageJson from "../../package.json" with { type: "json" };
import tsconfig from "../../tsconfig.json" with { type: "json" };
import config from "../../vitest.config.ts";
import { testEnvironment } from "../helpers/test-environment.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Checks of the code that could be switched off without anything turning red. */
test("npm run check is as strict as ever, about every folder", () => {
  expect(packageJson.scripts.check).toBe("tsc && biome check --error-on-warnings .");
  expect(tsconfig.compilerOptions).toMatchObject({
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    noImplicitOverride: true,
    noImplicitReturns: true,
    noFallthroughCasesInSwitch: true,
    noPropertyAccessFromIndexSignature: true,
    noUnusedLocals: true,
    noUnusedParameters: true,
    erasableSyntaxOnly: true,
  });
  expect(tsconfig.include).toEqual(["functions", "shared", "infra", "test", "*.ts"]);
  expect(tsconfig).not.toHaveProperty("exclude");
  expect(biome.linter.rules).toMatchObject({
    preset: "recommended",
    suspicious: { noExplicitAny: "error", noImportCycles: "error" },
  });
  expect(biome).not.toHaveProperty("files");
});

test("npm test runs every test file once, and passes over none", () => {
  expect(packageJson.scripts.test).toMatch(/ run$/);
  const { projects = [], ...shared } = config.test ?? {};
  const sets = projects.map((project) => (typeof project === "object" && "test" in project ? project.test : undefined));
  const matches = (file: string, patterns: string[] = []) => patterns.some((pattern) => matchesGlob(file, pattern));
  const files = globSync("test/**/*.test.ts", { cwd: root });
  expect(files.length).toBeGreaterThan(90);
  for (const file of files) {
    const names = sets.filter((set) => matches(file, set?.include) && !matches(file, set?.exclude));
    expect([file, names.length]).toEqual([file, 1]);
  }
  // Without it, tests would use an engine, or credentials, of the machine's.
  const alone = sets.filter((set) => set?.name !== "the engine at DYNAMODB_ENDPOINT");
  expect(alone.map((set) => set?.env)).toEqual(Array(3).fill({ ...testEnvironment, DYNAMODB_ENDPOINT: "" }));
  // Files share their process, so what one leaves changed is there for the next.
  for (const set of sets) expect(set).toMatchObject({ unstubEnvs: true, unstubGlobals: true });
  // Any of these would let a test that fails, or does not run, pass.
  for (const set of [shared, ...sets]) {
    for (const name of [
      "retry",
      "passWithNoTests",
      "dangerouslyIgnoreUnhandledErrors",
      "testNamePattern",
      "bail",
      "allowOnly",
    ]) {
      expect(set).not.toHaveProperty(name);
    }
  }
});

test("every command of package.json runs a file that is there, on Node 24", () => {
  for (const [name, command] of Object.entries<string>(packageJson.scripts)) {
    const files = command.match(/\b(?:infra|test|node_modules)\/\S+/g) ?? [];
    expect([name, files.filter((file) => !existsSync(root + file))]).toEqual([name, []]);
    if (/\bnode /.test(command)) expect([name, files[0]]).toEqual([name, "infra/require-node-24.cjs"]);
  }
});

test("the package can be installed on Linux and macOS, and published nowhere", () => {
  expect(packageJson).toMatchObject({ private: true, os: ["linux", "darwin"] });
});

test("npm runs no install scripts, locks no registry, and takes exact versions", async () => {
  const npmrc = (await readFile(`${root}.npmrc`, "utf8")).split("\n");
  expect(npmrc).toEqual(expect.arrayContaining(["ignore-scripts=true", "omit-lockfile-registry-resolved=true"]));
  const { dependencies, devDependencies, optionalDependencies } = packageJson;
  for (const [name, version] of Object.entries({ ...dependencies, ...devDependencies, ...optionalDependencies })) {
    expect([name, version]).toEqual([name, expect.stringMatching(/^(?:npm:[\w@/-]+@)?\d+\.\d+\.\d+$/)]);
  }
});
