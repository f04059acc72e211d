import { execFile } from "node:child_process";
import { copyFile, mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const biome = fileURLToPath(import.meta.resolve("@biomejs/biome/bin/biome"));

/** By the file that imports, or its folder. What they do import, `npm run check` lets through. */
const forbidden = {
  functions: ["../infra/environments.ts", "./authorize.ts", "aws-cdk-lib"],
  shared: ["../functions/authorize.ts"],
  "infra/stack": [
    "../environments.ts",
    "../../functions/authorize.ts",
    "../tools/terminal/errors.ts",
  ],
  "infra/app.ts": ["./tools/local/start.ts"],
  "infra/environments.ts": ["./stack/orders-stack.ts"],
  "infra/own.ts": ["./stack/orders-stack.ts"],
  "infra/tools/admin": [
    "../../../functions/authorize.ts",
    "../../stack/orders-stack.ts",
    "../local/template/synthesis.ts",
    "../running-stacks/../local/start.ts",
  ],
  "infra/tools/local": ["../../stack/orders-stack.ts"],
  "infra/tools/local/engine": ["../gateway/gateway.ts"],
  "infra/tools/local/gateway": ["../engine/engine.ts"],
  "infra/tools/local/lambda": ["../gateway/gateway.ts"],
  "infra/tools/local/machine": ["../lambda/lambda-host.ts"],
  "infra/tools/local/page": ["../engine/engine.ts"],
  "infra/tools/local/template": ["../start.ts"],
  "infra/tools/orders-file": ["../../../functions/authorize.ts"],
  "infra/tools/running-stacks": ["../local/start.ts"],
  "infra/tools/smoke": ["../../../test/helpers/send.ts"],
  // Without a rule, a folder may import nothing.
  "infra/new-folder": ["../../test/helpers/send.ts", "../environments.ts", "zod"],
  "infra/tools/new-folder": ["../terminal/errors.ts"],
};

/** A file for each import, in the folder that imports or by its own name. */
const files = Object.entries(forbidden).flatMap(([from, list]) =>
  list.map((imported) => ({
    file: from.endsWith(".ts") ? from : `${from}/${imported.replaceAll(/\W/g, "_")}.ts`,
    text: `import "${imported}";\n`,
  })),
);

/** A function that is a line too long, and one that is a step too complex. */
const functions = `export function long() {${"\nlong();".repeat(61)}\n}
export const complex = (a: any, b = a, c = a, d = a) => {
  if (a) if (b) if (c) if (d) long();
  if (a) long();
};`;
const broken = [
  {
    file: "shared/broken.ts",
    text: `import { One } from "./other.ts";\nimport "fs";\nexport type Two = One;\n${functions}`,
  },
  { file: "shared/other.ts", text: 'export * from "./broken.ts";' },
];

test("the check rejects an import that its folder's rule doesn't list, a cycle, and code too long or complex", async () => {
  await using folder = await temporaryFolder();
  await copyFile("biome.json", join(folder.path, "biome.json"));
  for (const { file, text } of [...files, ...broken]) {
    await mkdir(join(folder.path, dirname(file)), { recursive: true });
    await writeFile(join(folder.path, file), text);
  }
  // Not --only=style/noRestrictedImports: that applies the rule where it is off, too.
  const options = ["--reporter=github", "--max-diagnostics=none", "--vcs-enabled=false"];
  const linting = promisify(execFile)(process.execPath, [biome, "lint", ...options], {
    cwd: folder.path,
  });
  const { stdout } = await linting.catch((error: { stdout: string }) => error);
  const accepted = files.filter(
    ({ file }) => !new RegExp(`noRestrictedImports,file=\\S*/${file},`).test(stdout),
  );
  expect(accepted).toEqual([]);
  const rules = stdout.matchAll(/lint\/\w+\/(\w+),file=\S*\/broken\.ts/g);
  expect(Array.from(rules, ([, rule]) => rule)).toEqual(
    expect.arrayContaining([
      "noExcessiveCognitiveComplexity",
      "noExcessiveLinesPerFunction",
      "noExplicitAny",
      "noImportCycles",
      "useImportType",
      "useNodejsImportProtocol",
    ]),
  );
});
