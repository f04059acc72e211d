import { execFile } from "node:child_process";
import { copyFile, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { beforeAll, expect, test } from "vitest";

const biome = fileURLToPath(import.meta.resolve("@biomejs/biome/bin/biome"));

/** An import by its file or that file's folder, with whether it is allowed. */
type Import = [from: string, imported: string, allowed: boolean];

const ruled: Import[] = [
  ["functions", "../shared/log.ts", true],
  ["functions", "@middy/core", true],
  ["functions", "../infra/environments.ts", false],
  ["functions", "./authorize.ts", false],
  ["functions", "aws-cdk-lib", false],
  ["shared", "node:stream/promises", true],
  ["shared", "../functions/authorize.ts", false],
  ["infra/stack", "../environments.ts", false],
  ["infra/stack", "../../functions/authorize.ts", false],
  ["infra/stack", "../local/template/synthesis.ts", false],
  ["infra/local/template", "../../stack/orders-stack.ts", true],
  ["infra/local/template", "../start.ts", false],
  ["infra/orders-file", "../../functions/authorize.ts", false],
  ["infra/smoke", "../../test/helpers/send.ts", false],
  ["infra/local", "./engine/engine.ts", true],
  ["infra/local", "../stack/orders-stack.ts", false],
  ["infra/local/page", "../engine/engine.ts", false],
  ["infra/local/engine", "../gateway/gateway.ts", false],
  ["infra/local/gateway", "../engine/engine.ts", false],
  ["infra/local/lambda", "../gateway/gateway.ts", false],
  ["infra/local/machine", "../lambda/lambda-host.ts", false],
  ["infra/app.ts", "./local/start.ts", false],
  ["infra/environments.ts", "./stack/orders-stack.ts", false],
  ["infra/own.ts", "./stack/orders-stack.ts", false],
  ["infra/admin", "../local/engine/engine.ts", true],
  ["infra/admin", "../../functions/authorize.ts", false],
  ["infra/admin", "../stack/orders-stack.ts", false],
  ["infra/admin", "../local/../stack/orders-stack.ts", false],
  ["test", "../infra/stack/orders-stack.ts", true],
];
const unruled: Import[] = [
  ["infra/new-folder", "../../test/helpers/send.ts", false],
  ["infra/new-folder", "../environments.ts", false],
  ["infra/new-folder", "zod", false],
];

/** The same imports, each with whether Biome allows it. */
async function lint(imports: Import[]): Promise<Import[]> {
  const directory = await mkdtemp(join(tmpdir(), "pet-store-orders-boundaries-"));
  try {
    await copyFile("biome.json", join(directory, "biome.json"));
    const files = await Promise.all(
      imports.map(async ([folder, imported], index) => {
        const file = folder.endsWith(".ts") ? folder : join(folder, `import-${index}.ts`);
        await mkdir(join(directory, dirname(file)), { recursive: true });
        await writeFile(join(directory, file), `import "${imported}";\n`);
        return file;
      }),
    );
    // Not --only=style/noRestrictedImports: that applies the rule where it is off, too.
    const options = ["--reporter=github", "--max-diagnostics=none", "--vcs-enabled=false"];
    const linting = promisify(execFile)(process.execPath, [biome, "lint", ...options], {
      cwd: directory,
    });
    const { stdout } = await linting.catch((error: { stdout: string }) => error);
    return imports.map(([folder, imported], index) => {
      const problem = new RegExp(`noRestrictedImports,file=\\S*/${files[index]},`);
      return [folder, imported, !problem.test(stdout)];
    });
  } finally {
    await rm(directory, { recursive: true });
  }
}

let found: Import[];
beforeAll(async () => {
  found = await lint([...ruled, ...unruled]);
});

test("a folder may import only what its rule lists", () => {
  expect(found.slice(0, ruled.length)).toEqual(ruled);
});

test("a folder of infra/ without a rule may import nothing", () => {
  expect(found.slice(ruled.length)).toEqual(unruled);
});
