import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { readBlocks, runbookText } from "../helpers/runbook.ts";
import { life } from "./life.ts";
import { run, type Shell } from "./shell.ts";
import { inherited } from "./stage.ts";
import { findCommands } from "./steps.ts";

const blocks = readBlocks("# Life\n```sh\nbe born NAME $NAME NAMES\n```\n```sh\ndie\n```\n```json\n{}\n```");
const born = { run: "be born", check: "", values: { NAME: "$&" } };
const died = { skip: "die", because: "" };

test("the rehearsal has a step for every block of the runbook, which checks it or says why it is not run", () => {
  const steps = [...findCommands(readBlocks(runbookText), life).keys()];
  expect(steps.length).toBeGreaterThan(30);
  for (const step of steps) expect("run" in step ? step.check : "because" in step && step.because).toMatch(/\w/);
});

test("it does not know a block that is added, in a list or in another language", () => {
  for (const block of ["```sh\naws new\n```", "   ```bash\n   aws new\n   ```", "```\naws new\n```"]) {
    const added = readBlocks(`${runbookText}\n${block}\n`);
    expect(() => findCommands(added, life)).toThrow("Delete a stack: neither run nor listed: aws new");
  }
});

test("it misses a block that is gone or in another place", () => {
  expect(() => findCommands(blocks.slice(0, 1), { Life: [born, died] })).toThrow("no block begins with `die` there");
  expect(() => findCommands(blocks, { Life: [died, born] })).toThrow("no block begins with `be born` there");
});

test("placeholders are filled in, and each has to be there", () => {
  expect([...findCommands(blocks, { Life: [born, died] }).values()]).toEqual(["be born $& $NAME NAMES", "die"]);
  const nameless = { ...born, values: { NAM: "" } };
  expect(() => findCommands(blocks, { Life: [nameless, died] })).toThrow("These commands have no NAM: be born");
});
let shell: Shell;
beforeAll(async () => {
  const cwd = await mkdtemp(join(tmpdir(), "pet-store-orders-rehearsal-"));
  await writeFile(join(cwd, "aws"), '#!/bin/sh\n[ "$1" = known ]', { mode: 0o755 });
  const env = { PATH: `${cwd}:${process.env["PATH"]}`, SCRATCH: cwd, PORT: "0" };
  shell = { cwd, env, signal: new AbortController().signal };
  return () => rm(cwd, { recursive: true });
});

test("what a block sets is kept for its check and for the next block, what it prints for its check", async () => {
  await run(shell, "STACK='my stack'\necho created", 'printed created; [ "$STACK" = "my stack" ]');
  await run(shell, '[ "$STACK" = "my stack" ]');
});

test("commands reach the account on this machine alone, whatever the machine's own is", async () => {
  const own = {
    AWS_PROFILE: "me",
    AWS_ENDPOINT_URL_DYNAMODB: "https://aws",
    CDK_DEFAULT_ACCOUNT: "1",
    GIT_DIR: "/clone",
  };
  expect(inherited({ ...own, NODE_OPTIONS: "-r x", HOME: "/home/me" })).toEqual({ HOME: "/home/me" });
  const set = [
    "AWS_ENDPOINT_URL=http://127.0.0.1:0",
    ...["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"].map((name) => `${name}=rehearsal`),
    ...["AWS_CONFIG_FILE=/dev/null", "AWS_SHARED_CREDENTIALS_FILE=/dev/null", "GIT_CONFIG_GLOBAL=/dev/null"],
  ];
  await run(shell, "env", set.map((line) => `printed '^${line}$'`).join("\n"));
});

test("a rehearsal that can't go on says why and exits with 1", async () => {
  const env = { ...process.env, TMPDIR: "/dev/null/none" };
  const rehearse = promisify(execFile)(process.execPath, [join(import.meta.dirname, "rehearse.ts")], { env });
  await expect(rehearse).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringContaining("/dev/null/none/rehearsal-"),
  });
});

test.each([
  "awss known",
  "echoo 1 && true\ntrue",
  "until aws unknown; do sleep 1; done",
  'echo "$(aws unknown)"',
  "aws unknown && true\ntrue",
  "false | cat",
  'aws known "$NOBODY"',
  "false | cat",
])("a block fails at the mistake in `%s`", async (block) => {
  await expect(run(shell, block)).rejects.toThrow(`Failed:\n${block}`);
});

test("a block fails with its check, and shows what was printed", async () => {
  await expect(run(shell, "aws known; echo pending", "printed shipped")).rejects.toThrow(/printed shipped\n.*pending/s);
  await expect(run(shell, "aws known", "fails aws known")).rejects.toThrow();
  await run(shell, "aws known", "fails aws unknown");
});

test("a block is stopped after ten minutes", async () => {
  const limit = new AbortController();
  const timeout = vi.spyOn(AbortSignal, "timeout").mockReturnValue(limit.signal);
  onTestFinished(() => timeout.mockRestore());
  const running = run(shell, "sleep 1");
  limit.abort();
  await expect(running).rejects.toThrow("Stopped:");
  expect(timeout).toHaveBeenCalledWith(600_000);
});

test("what a block has started ends with the block or with the rehearsal", async () => {
  const stopped = new AbortController();
  await run(shell, "sleep 600 &");
  const running = run({ ...shell, signal: stopped.signal }, "sleep 600");
  stopped.abort();
  await expect(running).rejects.toThrow("Stopped:");
  await expect(run({ ...shell, signal: stopped.signal }, ":")).rejects.toThrow("aborted");
});
