// Generates, compiles and runs a client in every language that this machine has the tools for:
// `npm run clients`.
import { exec } from "node:child_process";
import { cp, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { listen } from "../../infra/local/machine/ports.ts";
import { Script } from "../../infra/terminal/script.ts";
import { documentFile } from "../helpers/openapi/document.ts";
import { startStack } from "../helpers/start-stack.ts";

const run = promisify(exec);

const { document } = new Script("npm run clients --")
  .description("Generates, compiles and runs clients of the service in other languages.")
  .option("--document <file>", "the OpenAPI document to generate from", fileURLToPath(documentFile))
  .parse()
  .opts<{ document: string }>();

/**
 * How a language's client is generated, compiled and run, by commands of the shell in a copy of the
 * folder.
 */
interface Toolchain {
  language: string;
  folder: string;
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
    folder: "go",
    tools: "go version",
    build: "go generate ./... && go mod tidy && go vet ./... && go build -o program .",
    program: "./program",
  },
  {
    language: "Java",
    folder: "java",
    tools: "java --version && mvn --version",
    build: "mvn --quiet --batch-mode compile dependency:build-classpath",
    program: 'java -classpath "target/classes:$(cat target/classpath)" Main',
  },
  {
    language: "Python",
    folder: "python",
    tools: "python3 --version",
    build:
      "python3 -m venv venv && venv/bin/pip install --quiet --requirement requirements.txt && " +
      'PATH="$PWD/venv/bin:$PATH" openapi-python-client generate --path "$DOCUMENT" ' +
      "--meta none --output-path store",
    program: "venv/bin/python main.py",
  },
];

const ordersFile = fileURLToPath(new URL("orders.ndjson", import.meta.url));

/** The text that each step of a program must print. */
const checks = {
  list: printedOrders(await readFile(ordersFile, "utf8")),
  cancel: "204",
  "cancel again": "409 order_already_cancelled",
  "cancel no order": "404 order_not_found",
  "list without a key": "401 unauthorized",
  // From a later version of the service, with another field and error code.
  "list later": "9223372036854775807,-,-,-,-",
  "cancel later": "409 order_being_packed",
};
const laterOrders = '[{"id":9223372036854775807,"gift":true}]';
const laterError = '{"code":"order_being_packed","message":"Order is being packed","status":409}';

const count = Object.keys(checks).length;
let ran = 0;
for (const toolchain of toolchains) {
  const { language, tools } = toolchain;
  const installed = await run(tools).then(
    () => true,
    () => false,
  );
  if (!installed) {
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

/**
 * Builds a language's client in a scratch folder, and runs it against a service of its own and a
 * later version.
 *
 * @returns a line for each check that failed.
 */
async function tryClient({ folder, build, program }: Toolchain): Promise<string[]> {
  await using cleanUp = new AsyncDisposableStack();
  const cwd = await mkdtemp(join(tmpdir(), `client-${folder}-`));
  cleanUp.defer(() => rm(cwd, { recursive: true, force: true }));
  await cp(new URL(folder, import.meta.url), cwd, { recursive: true });
  const copy = join(cwd, "openapi.yaml");
  await cp(document, copy);
  const stack = await startStack({ orders: ordersFile, log: () => {} });
  cleanUp.defer(() => stack.stop());
  const later = await listen(0, ({ method }, response) => {
    response.writeHead(method === "DELETE" ? 409 : 200, { "Content-Type": "application/json" });
    response.end(method === "DELETE" ? laterError : laterOrders);
  });
  cleanUp.defer(() => later.close());
  const env = {
    ...process.env,
    DOCUMENT: copy,
    BASE_URL: stack.baseUrl,
    API_KEY: stack.apiKey,
    LATER_BASE_URL: `http://localhost:${later.port}/v1`,
  };
  let output = "";
  try {
    await run(build, { cwd, env });
    output = (await run(program, { cwd, env })).stdout;
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    console.error(`${folder} does not build or run: ${stdout}${stderr}`);
  }
  const printed = new Map<string, string>();
  for (const [, step = "", text = ""] of output.matchAll(/^(.+?): (.*)$/gm)) {
    printed.set(step, text);
  }
  return Object.entries(checks)
    .map(([step, expected]) => ({ step, expected, saw: printed.get(step) ?? "nothing" }))
    .filter(({ expected, saw }) => inOrder(saw) !== inOrder(expected))
    .map(({ step, expected, saw }) => `${step}: expected ${expected}, saw ${saw}`);
}

/** The words of a text in alphabetical order: the service lists orders in no particular one. */
function inOrder(text: string): string {
  return text.split(" ").sort().join(" ");
}

/**
 * Orders as the programs print them: the five fields, a date in milliseconds since 1970, and `-`
 * for none.
 */
function printedOrders(ndjson: string): string {
  // JSON.parse alone would round ids beyond 2^53.
  const digits = (_name: string, value: unknown, context?: { source: string }) =>
    typeof value === "number" ? context?.source : value;
  return ndjson
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line, digits))
    .map(({ id, petId = "-", quantity = "-", shipDate, complete = "-" }) =>
      [id, petId, quantity, shipDate === undefined ? "-" : Date.parse(shipDate), complete].join(),
    )
    .join(" ");
}
