import { spawn, spawnSync } from "node:child_process";
import { copyFile, mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { createProgram } from "../../infra/tools/petstore.ts";
import { petstore, root } from "../helpers/admin-command.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";
import { run } from "./run.ts";

describe("the launcher", () => {
  /** A checkout whose program prints how it was called, and waits if it is told to. */
  let checkout: string;
  let launcher: string;
  beforeEach(async () => {
    const folder = await temporaryFolder();
    onTestFinished(() => folder.remove());
    checkout = join(folder.path, `it's "a" checkout ü`);
    launcher = join(checkout, "infra/petstore");
    for (const name of ["infra/tools", "node_modules/.bin", "node_modules/commander"])
      await mkdir(join(checkout, name), { recursive: true });
    for (const name of ["infra/petstore", "infra/tools/run"])
      await copyFile(join(root, name), join(checkout, name));
    await symlink(process.execPath, join(checkout, "node_modules/.bin/node"));
    await writeFile(
      join(checkout, "infra/tools/petstore.ts"),
      `const words = process.argv.slice(2);
      process.on("SIGINT", () => process.exit(42));
      const { execArgv: options, pid } = process;
      console.log(JSON.stringify({ words, cwd: process.cwd(), pid, options }));
      if (words[0] === "wait") setInterval(() => {}, 1000);`,
    );
  });

  /** Calls the launcher as a shell would. */
  function call(file: string, PATH = "/usr/bin:/bin") {
    const options = { cwd: "/", env: { PATH }, encoding: "utf8" } as const;
    const { status, stdout, stderr } = spawnSync(file, ["a b", "$c", ""], options);
    return { status, stdout, stderr: stderr.replaceAll(checkout, "CHECKOUT") };
  }

  test("works from any folder, through links, and keeps every word", async () => {
    const link = join(checkout, "..", "link");
    await symlink(launcher, `${link} to it`);
    await symlink(`${link} to it`, link);
    for (const file of [launcher, link]) {
      const { stdout, ...rest } = call(file);
      expect(rest).toEqual({ status: 0, stderr: "" });
      const options = petstore.slice(0, -1);
      const called = { words: ["a b", "$c", ""], cwd: "/", options };
      expect(JSON.parse(stdout)).toMatchObject(called);
    }
  });

  test("is replaced by the program, so that signals and exit codes are the program's", async () => {
    const child = spawn(launcher, ["wait"], { stdio: ["ignore", "pipe", "inherit"] });
    const [line] = await child.stdout.setEncoding("utf8").take(1).toArray();
    expect(JSON.parse(line).pid).toBe(child.pid);
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGINT");
    expect(await ended).toBe(42);
  });

  const npmCi = "The packages are not all installed. Run npm ci in CHECKOUT\n";
  const noNode =
    "Node 24 is missing. Run npm ci in CHECKOUT, or get it from https://nodejs.org\n";
  test.each([
    ["says what to do before npm ci", "", "exit 1", npmCi],
    ["says what to do without development packages", "commander", "exit 1", npmCi],
    ["says what to do without any Node", ".bin/node", "", noNode],
    [
      "says what to do if the machine has Node 23",
      ".bin/node",
      `exec ${process.execPath} --import 'data:text/javascript,Object.defineProperty(process,"versions",{value:{node:"23.11.1"}})' "$@"`,
      noNode,
    ],
    ["uses the machine's Node 24", ".bin/node", `exec ${process.execPath} "$@"`, ""],
    ["uses the checkout's Node before the machine's", "nothing", "exit 99", ""],
  ])("%s", async (_, missing, node, stderr) => {
    await rm(join(checkout, "node_modules", missing), { recursive: true, force: true });
    const bin = join(checkout, "bin");
    await mkdir(bin);
    for (const name of ["dirname", "readlink"])
      await symlink(`/usr/bin/${name}`, join(bin, name));
    if (node) await writeFile(join(bin, "node"), `#!/bin/sh\n${node}\n`, { mode: 0o755 });
    const status = stderr ? 2 : 0;
    expect(call(launcher, bin)).toMatchObject({ status, stderr });
  });
});

/** Runs these lines in one process, which prints the packages that it has loaded after each. */
function runAll(lines: string[]) {
  const script = `import { registerHooks } from "node:module";
    const packages = new Set();
    registerHooks({ load(url, context, next) {
      const [, name] = /.*node_modules.((?:@[^/]+.)?[^/]+)/.exec(url) ?? [];
      if (name) packages.add(name);
      return next(url, context);
    } });
    const { createProgram } = await import("./infra/tools/petstore.ts");
    for (const words of ${JSON.stringify(lines)}) {
      await createProgram().run(words.split(" "));
      console.log("after " + words + ": " + [...packages]);
    }`;
  const options = ["--input-type=module", "--eval", script];
  const env = { ...process.env, LOCAL_STACKS: "/nowhere" };
  return spawnSync(process.execPath, options, { cwd: root, env, encoding: "utf8" });
}

test("help and wrong use load no package but commander", () => {
  const names = createProgram().commands.map((command) => command.name());
  const lines = ["--help", ...names.map((name) => `${name} --help`)];
  lines.push("orders list --help", "help keys issue", "keys issue --local");
  const { status, stdout, stderr } = runAll(lines);
  const loaded = lines.map((words) => `after ${words}: commander`);
  expect(stdout.match(/^after .*/gm)).toEqual(loaded);
  expect(status).toBe(2);
  expect(stderr).toContain("--name");
});

test("a command that reads a table loads no CDK", () => {
  const { status, stdout, stderr } = runAll(["orders count --local"]);
  expect(status).toBe(1);
  expect(stderr).toMatch(/^No local stack is running\./);
  expect(stdout).toContain("@aws-sdk/client-dynamodb");
  expect(stdout).not.toContain("cdk");
});

const help = `Run it on this machine:
  start              run the service

Operate it:
  keys               issue, list, revoke, check and repair API keys
  orders             list, show, count, import, export, ship, audit, reinstate
                     and repair orders

Deploy it:
  synth              write and check the templates of all environments
  compare            list what a deployment would change out of the ordinary
  diff               print every change that a deployment would make
  deploy             compare, then deploy with CDK if every change is accepted
  drift              list what was changed by hand since the last deployment
  smoke              check that a running service keeps its promises to clients

More:
  help [command...]  print the help of a command

Exit codes:
  0    done
  1    failed; also a rejected key, a failed check, a change that isn't accepted, drift
  2    wrong use; also a comparison that can't be made, or nothing installed yet
  3-7  of orders ship, see its help
`;

test.each([
  ["help", help],
  ["-h", help],
  ["help keys issue", "Usage: petstore keys issue"],
  ["--version", "1."],
])("help goes to standard output: %s", async (words, text) => {
  const stdout = expect.stringContaining(text);
  expect(await run(words)).toEqual({ code: 0, stdout, stderr: "" });
});

const helps = `
keys
  --profile <name> the AWS profile to work with (default: AWS_PROFILE)
  --env <name> work on this deployed environment, with your own AWS credentials
  --local work on the running 'petstore start'
  --json print JSON, for scripts
keys issue
  issue a key and print it, once, alone on standard output
  --name <name> who the key is for (required)
  --expires <date> the last day the key works, in UTC, or the date-time it expires
keys list
  list every key ever issued; the keys themselves are never shown again
  --active only the keys that work
  --table <name> read this table (default: the one in use)
keys revoke
  revoke a key for good
  as shown by 'keys list'
keys check
  read a key from standard input and say whether the service accepts it
keys repair
  repair what is missing or damaged, from a copy that was restored beside it
  --from <table> the copy (required)
  --dry-run only say what would be changed
orders
  --rate <units> read and write units a second (default: half of what the table serves; no limit \
with --local)
orders import
  check every line of a file, then write the orders that are not in the table yet
  NDJSON: one order per line, with its status
  --check compare the orders with the table, and write nothing
  --record <file> write down what is written, in a new file, for --undo
  --undo <file> by its record, delete what an import has written, unless changed since; asks \
first
  --yes don't ask
orders export
  write every order, one per line, in the format of 'orders import'
  where to write (default: standard output)
  --table <name> read this table (default: the one in use)
orders ship
  ship pending orders
  the orders' ids
  --file <file> a file of ids, one per line (default, without ids: standard input, like '-')
  --date <date> when they shipped: a day, in UTC, or a date-time (default: now)
  Exit code, the gravest of the orders', which is the last of these: 0 has shipped 3 had already \
shipped 4 is cancelled and can't ship 5 does not exist 6 is not pending and can't ship 1 was not \
tried 7 may have shipped or not
  --local
orders list
  list orders as they are read; with --json in the format of 'orders import'
  --status <status> only orders with this status
  --cancelled-by <key-id> only orders that this key cancelled
orders count
  count the orders by status
orders show
  show an order with its status and, if it was cancelled, when and by which key
  the order's id
orders audit
  compare the cancellations in CancelOrder's log with the table
  --log <file> the function's log lines ('-' is standard input) (required)
orders reinstate
  make orders pending again that a key has cancelled, and print their ids
  --cancelled-by <key-id> the key, such as a leaked one (required)
  --since <date-time> leave what it cancelled earlier, like 2026-11-20T08:00:00Z (required)
  --until <date-time> leave what it cancelled from then on
  --ids <file> only these orders: a file of ids, one per line
  --except <file> not these orders: a file of ids, one per line
  --dry-run only say what would be changed
orders repair
  repair what is missing or damaged, from a copy that was restored beside it
  --from <table> the copy (required)
  --dry-run only say what would be changed
  --fields <names> also repair these attributes where they differ, like petId,quantity; status \
undoes shipments and cancellations that left no id
  --ids <file> only these orders: a file of ids, one per line
compare
  --template <file> compare with a saved template; needs no credentials
diff
  options of 'cdk diff', such as --security-only
  -a, --app <directory> a synthesised app; without it, synthesises one
deploy
  --profile <name> the AWS profile to work with (default: AWS_PROFILE)
  --accept <digest> changes that are meant
  --app <directory> a synthesised app; without it, synthesises one
  -c, --context <key=value> such as canary=false, for the synthesis
  --require-approval <level> when to ask: never, any-change, broadening, destructive
  --outputs-file <file> where CDK writes the stack's outputs, as JSON
  --revert-drift also undo what was changed outside CloudFormation
synth
  options of 'cdk synth', such as -c canary=false
  -o, --output <folder> where to write (default: cdk.out)`;
test("the help of a command says what it does, and what it takes", async () => {
  for (const part of helps.split(/\n(?! )/).slice(1)) {
    const [command = "", ...texts] = part.split(/\n +/);
    const { stdout } = await run(`${command} --help`);
    const help = stdout.replaceAll(/\s+/g, " ").replaceAll("`", "'");
    for (const text of texts) expect(help).toContain(` ${text} `);
  }
});

test.each([
  ["", "Usage: petstore [options] [command]"],
  ["odrers list", "unknown command 'odrers'\n(Did you mean orders?)\n(see --help)"],
  ["keys isue", "unknown command 'isue'\n(Did you mean issue?)"],
])("wrong use exits with 2 and says so on standard error: %s", async (words, text) => {
  const stderr = expect.stringContaining(text);
  expect(await run(words)).toEqual({ code: 2, stdout: "", stderr });
});

test("a program that ends says why in a line, and its stack trace only with NODE_DEBUG", async () => {
  await using folder = await temporaryFolder();
  await writeFile(join(folder.path, "package.json"), '{ "type": "module" }');
  const said = [];
  for (const [source, code] of [
    ["process.exitCode = 2; await null; null.bug;", 2],
    ["Promise.reject(new RangeError('far')); setTimeout(() => {}, 60_000);", 1],
    ["const = nothing;", 1],
  ] as const) {
    const file = join(folder.path, "one.ts");
    await writeFile(file, source);
    const { stdout, stderr, status } = spawnSync(
      process.execPath,
      ["--import", "./infra/tools/terminal/report-errors.ts", file],
      { cwd: root, encoding: "utf8", env: { ...process.env, NODE_DEBUG: "errors" } },
    );
    expect({ stdout, status }).toEqual({ stdout: "", status: code });
    said.push(
      stderr
        .replaceAll(folder.path, "FOLDER")
        .replace(/^ERRORS [\s\S]*? {4}at .*\n(?! )/, "[stack trace] ")
        .replace(/(?<=SyntaxError ).*/, "..."),
    );
  }
  expect(said.join("")).toMatchInlineSnapshot(`
    "[stack trace] Unexpected error: TypeError: Cannot read properties of null (reading 'bug'). NODE_DEBUG=errors prints the stack trace
    [stack trace] Unexpected error: RangeError: far. NODE_DEBUG=errors prints the stack trace
    [stack trace] file://FOLDER/one.ts:1
    const = nothing;
          ^

    SyntaxError ...
    "
  `);
});
