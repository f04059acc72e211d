import { readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import packageJson from "../../package.json" with { type: "json" };
import { runScript, temporaryDirectory } from "../helpers/workflows.ts";

test("npm run check fails when tsc does, and at a mere warning of biome", async () => {
  const directory = await temporaryDirectory();
  const settings = JSON.parse(await readFile("biome.json", "utf8"));
  await writeFile(
    join(directory, "biome.json"),
    JSON.stringify({ ...settings, vcs: {}, formatter: { enabled: false } }),
  );
  await symlink(fileURLToPath(import.meta.resolve("@biomejs/biome/bin/biome")), join(directory, "biome"));
  const check = async (source: string, tsc: string): Promise<boolean> => {
    await writeFile(join(directory, "index.ts"), source);
    await writeFile(join(directory, "tsc"), `#!/bin/sh\n${tsc}\n`, { mode: 0o755 });
    const env = { PATH: `${directory}:${process.env["PATH"]}` };
    return (await runScript({ run: packageJson.scripts.check }, directory, env)).ok;
  };
  expect(await check("export const used = 1;\n", "true")).toBe(true);
  expect(await check("export const used = 1;\n", "false")).toBe(false);
  expect(await check("const unused = 1;\nexport const used = 1;\n", "true")).toBe(false);
});
