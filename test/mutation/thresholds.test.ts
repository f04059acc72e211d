import { globSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import stack from "./stack.stryker.config.mjs";
import service from "./stryker.config.mjs";
import { strykerPlugins } from "./text-for-people.mjs";
import tools from "./tools.stryker.config.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));

// Below `break`, Stryker exits with 1.
test.each([
  ["the deployed code", service, 95, ["functions/", "shared/"], []],
  ["the stack", stack, 85, ["infra/stack/"], []],
  [
    "the tools",
    tools,
    85,
    [
      "infra/admin/",
      "infra/orders-file/",
      "infra/smoke/",
      "infra/terminal/",
      "infra/template/",
      "infra/local/gateway/",
    ],
    ["!infra/{admin/admin,smoke/main,template/synth}.ts"],
  ],
])("npm run mutation fails when too many changes to %s survive", (_, config, percent, folders, leftOut) => {
  expect(config.thresholds.break).toBe(percent);
  const mutated = config.mutate.slice(0, folders.length).map((pattern) => globSync(pattern, { cwd: root }));
  for (const [index, folder] of folders.entries()) {
    expect(mutated[index]).toEqual(globSync(`${folder}**/*.ts`, { cwd: root }));
    expect(mutated[index]).not.toEqual([]);
  }
  // A pattern more would take files away again, and this comment lines.
  expect(config.mutate.slice(folders.length)).toEqual(leftOut);
  for (const file of mutated.flat()) expect(readFileSync(root + file, "utf8"), file).not.toContain("Stryker disable");
  for (const name of ["mutator", "incremental"]) expect(config).not.toHaveProperty(name);
});

test("npm run mutation changes what runs while the stack or the deployed code loads, too", () => {
  for (const config of [service, stack]) expect(config).not.toHaveProperty("ignoreStatic");
});

test("npm run mutation leaves out texts for people only", () => {
  const ignored = (path: object) => strykerPlugins.map(({ value }) => value.shouldIgnore(path))[0] !== undefined;
  const member = (name: string) => ignored({ node: { type: "ObjectProperty", key: { type: "Identifier", name } } });
  for (const name of ["alarmDescription", "description", "label", "reason"]) expect(member(name), name).toBe(true);
  for (const name of ["threshold", "id", "statistic", "expression"]) expect(member(name), name).toBe(false);

  const argument = (name: string, key: number, type = "StringLiteral") => {
    const callee = { property: { name } };
    return ignored({ node: { type }, key, parent: { callee } });
  };
  expect(argument("description", 0)).toBe(true);
  for (const name of ["option", "requiredOption", "argument"]) {
    expect([0, 1, 2].map((key) => argument(name, key))).toEqual([false, true, false]);
  }
  expect(argument("command", 0)).toBe(false);
  expect(argument("option", 1, "ArrowFunction")).toBe(false);
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
