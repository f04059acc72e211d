// Generates, compiles and runs a client in every language that this machine has the tools for:
// `npm run clients`.
import { exec } from "node:child_process";
import { cp } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { listen } from "../../infra/tools/local/machine/ports.ts";
import { documentFile } from "../helpers/openapi/document.ts";
import { startStack } from "../helpers/start-stack.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const run = promisify(exec);

/** The shell's commands for a language, in a copy of its folder. */
interface Toolchain {
  language: string;
  /** Fails unless every tool is installed. */
  tools: string;
  /** Generates the client from the document at `$DOCUMENT`, and compiles it with the program. */
  build: string;
  /** Prints a line `step: what it saw` for every step of `checks`. */
  program: string;
}

const toolchains: Toolchain[] = [
  {
    language: "Go",
    tools: "go version",
    build: "go generate ./... && go mod tidy && go vet ./... && go build -o program .",
    program: "./program",
  },
  {
    language: "Java",
    tools: "java --version && mvn --version",
    build: "mvn --quiet --batch-mode compile dependency:build-classpath",
    program: 'java -classpath "target/classes:$(cat target/classpath)" Main',
  },
  {
    language: "Python",
    tools: "python3 --version",
    build:
      "python3 -m venv venv && venv/bin/pip install --quiet --requirement requirements.txt && " +
      'PATH="$PWD/venv/bin:$PATH" openapi-python-client generate --path "$DOCUMENT" ' +
      "--meta none --output-path store",
    program: "venv/bin/python main.py",
  },
];

/**
 * The text that each step of a program must print. An order is its five fields, a date in
 * milliseconds since 1970, and `-` for none.
 */
const checks = {
  list: [
    "1,101,2147483648,1796115600000,false",
    "2,102,2,1793615400000,true",
    "3,103,9223372036854775807,-62135661600000,-",
    "4,104,-9223372036854775808,253402365599123,-",
    "5,9007199254740993,0,1791218700000,true",
    "6,-,-,-,-",
    "7,107,12,-,-",
    "9223372036854775807,9223372036854775807,-,-,false",
    "-9223372036854775808,-9223372036854775808,-,-,true",
  ].join(" "),
  cancel: "204",
  "cancel again": "409 order_already_cancelled",
  "cancel no order": "404 order_not_found",
  "list without a key": "401 unauthorized",
  // From a later version of the service, with another field and error code.
  "list later": "9223372036854775807,-,-,-,-",
  "cancel later": "409 order_being_packed",
};
const laterOrders = '[{"id":9223372036854775807,"gift":true}]';
const laterError =
  '{"code":"order_being_packed","message":"Order is being packed","status":409}';

const count = Object.keys(checks).length;
let ran = 0;
for (const toolchain of toolchains) {
  const { language, tools } = toolchain;
  if (!(await run(tools).catch(() => false))) {
    console.log(`${language}: skipped, as \`${tools}\` does not run on this machine`);
    continue;
  }
  ran += 1;
  const failures = await tryClient(toolchain);
  console.log(`${language}: ${count - failures.length} of ${count} checks passed`);
  for (const failure of failures) console.error(`  ${failure}`);
  if (failures.length > 0) process.exitCode = 1;
}
if (ran === 0) throw new Error("No client ran");

/** Builds a client, and runs it. @returns a line for each check that failed. */
async function tryClient({ language, build, program }: Toolchain) {
  await using cleanup = new AsyncDisposableStack();
  const { path: cwd } = cleanup.use(await temporaryFolder());
  const folder = language.toLowerCase();
  await cp(new URL(folder, import.meta.url), cwd, { recursive: true });
  const orders = fileURLToPath(new URL("orders.ndjson", import.meta.url));
  const stack = await startStack(cleanup, { orders, log: () => {} });
  const later = await listen(0, ({ method }, response) => {
    const [status, body] = method === "DELETE" ? [409, laterError] : [200, laterOrders];
    response.writeHead(status, { "Content-Type": "application/json" }).end(body);
  });
  cleanup.defer(later.close);
  const env = {
    ...process.env,
    DOCUMENT: join(cwd, "openapi.yaml"),
    BASE_URL: stack.baseUrl,
    API_KEY: stack.apiKey,
    LATER_BASE_URL: `http://localhost:${later.port}/v1`,
  };
  await cp(documentFile, env.DOCUMENT);
  let output = "";
  try {
    await run(build, { cwd, env });
    output = (await run(program, { cwd, env })).stdout;
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    console.error(`${folder} does not build or run: ${stdout}${stderr}`);
  }
  const lines = output.matchAll(/^(.+?): (.*)$/gm);
  const printed = Object.fromEntries(lines.map(([, step, text]) => [step, text]));
  return Object.entries(checks).flatMap(([step, expected]) => {
    const saw = printed[step] ?? "nothing";
    if (inOrder(saw) === inOrder(expected)) return [];
    return [`${step}: expected ${expected}, saw ${saw}`];
  });
}

/** The words of a text in alphabetical order: the service lists orders in no particular one. */
function inOrder(text: string) {
  return text.split(" ").sort().join(" ");
}
