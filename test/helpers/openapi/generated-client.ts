import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { document, documentFile } from "./document.ts";

const run = promisify(execFile);

/** Generates a TypeScript client from the document, as `client.ts` in the directory. */
export async function generateClient(directory: string): Promise<void> {
  const redocly = fileURLToPath(import.meta.resolve("@redocly/cli/bin/cli.js"));
  const output = join(directory, "client.ts");
  await run(
    process.execPath,
    [redocly, "generate-client", fileURLToPath(documentFile), "-o", output, "--import-ext=ts", "--error-mode=result"],
    { cwd: directory, env: { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" } },
  );
  await writeFile(join(directory, "exactly.js"), `${snippet()}\nexport { parseExactly };\n`);
  await writeFile(join(directory, "package.json"), '{"type":"module"}');
  await writeFile(join(directory, "tsconfig.json"), JSON.stringify(tsconfig));
}

/** The JavaScript for int64 in the document's description, word for word. */
function snippet(): string {
  const [, code] = /```js\n(.*?)```/s.exec(document.info.description) ?? [];
  if (code === undefined) throw new Error("The document's description has no JavaScript");
  return code;
}

/** Type-checks a program that uses the client, runs it, and returns the JSON it prints, parsed. */
export async function runProgram(directory: string, program: string, env: Record<string, string>): Promise<unknown> {
  const file = join(directory, "program.ts");
  await writeFile(file, program);
  const tsc = fileURLToPath(new URL("bin/tsc", import.meta.resolve("typescript/package.json")));
  await run(process.execPath, [tsc], { cwd: directory }).catch(({ stdout }) => {
    throw new Error(`The program does not compile:\n${stdout}`);
  });
  const { stdout } = await run(process.execPath, [file], { env });
  return JSON.parse(stdout);
}

// A client's own project: strict, and with none of this repository's settings.
const tsconfig = {
  compilerOptions: {
    strict: true,
    noEmit: true,
    target: "esnext",
    module: "nodenext",
    lib: ["esnext", "dom", "dom.iterable"],
    types: ["node"],
    typeRoots: [fileURLToPath(new URL("../../../node_modules/@types", import.meta.url))],
    allowJs: true,
    allowImportingTsExtensions: true,
    skipLibCheck: true,
  },
};
