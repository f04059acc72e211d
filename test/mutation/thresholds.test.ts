import { globSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import stack from "./stack.stryker.config.mjs";
import service from "./stryker.config.mjs";
import { strykerPlugins } from "./text-for-people.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));

// Below `break`, Stryker exits with 1.
test.each([
  ["the deployed code", service, 95, ["functions/", "shared/"]],
  ["the stack", stack, 85, ["infra/stack/"]],
])("npm run mutation fails when too many changes to %s survive", (_, config, percent, folders) => {
  expect(config.thresholds.break).toBe(percent);
  const mutated = config.mutate.map((pattern) => globSync(pattern, { cwd: root }));
  for (const [index, folder] of folders.entries()) {
    expect(mutated[index]).toEqual(globSync(`${folder}**/*.ts`, { cwd: root }));
    expect(mutated[index]).not.toEqual([]);
  }
  // A pattern more would take files away again, and this comment lines.
  expect(config.mutate).toHaveLength(folders.length);
  for (const file of mutated.flat()) expect(readFileSync(root + file, "utf8"), file).not.toContain("Stryker disable");
  for (const name of ["mutator", "ignoreStatic", "incremental"]) expect(config).not.toHaveProperty(name);
});

test("npm run mutation leaves out texts for people only", () => {
  const ignored = (name: string) =>
    strykerPlugins.map(({ value }) =>
      value.shouldIgnore({ node: { type: "ObjectProperty", key: { type: "Identifier", name } } }),
    );
  for (const name of ["alarmDescription", "description", "label", "reason"]) {
    expect(ignored(name)).toEqual(["a text for people"]);
  }
  for (const name of ["threshold", "id", "statistic", "expression"]) expect(ignored(name)).toEqual([undefined]);
});

test("npm run mutation runs every configuration there is", async () => {
  const { scripts } = JSON.parse(await readFile(`${root}package.json`, "utf8"));
  const commands = Object.entries<string>(scripts).filter(([name]) => name.startsWith("mutation"));
  for (const file of globSync("test/mutation/*stryker.config.mjs", { cwd: root })) {
    const [name] =
      commands.find(
        ([, command]) => command.endsWith(`/${basename(file)}`) || command.includes(`/${basename(file)} && `),
      ) ?? [];
    expect(name === "mutation" || scripts.mutation.includes(`npm run ${name}`), file).toBe(true);
  }
});
