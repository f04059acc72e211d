import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { readBlocks, runbookText } from "../helpers/runbook.ts";
import { life } from "./life.ts";
import { run, type Shell } from "./shell.ts";
import { findCommands } from "./steps.ts";

const blocks = readBlocks("# Life\n```sh\nbe born NAME $NAME NAMES\n```\n```sh\ndie\n```\n```json\n{}\n```");
const born = { run: "be born", check: "", values: { NAME: "$&" } };
const died = { skip: "die", because: "" };

test("the rehearsal has a step for every block of the runbook", () => {
  expect(findCommands(readBlocks(runbookText), life).size).toBeGreaterThan(30);
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

test.each([
  "awss known",
  "echoo 1 && true\ntrue",
  "until aws unknown; do sleep 1; done",
  'echo "$(aws unknown)"',
  "aws unknown && true\ntrue",
  "aws unknown | cat",
  'aws known "$NOBODY"',
])("a block fails at the mistake in `%s`", async (block) => {
  await expect(run(shell, block)).rejects.toThrow(`Failed:\n${block}`);
});

test("a block fails with its check, and shows what was printed", async () => {
  await expect(run(shell, "aws known; echo pending", "printed shipped")).rejects.toThrow(/printed shipped\n.*pending/s);
  await expect(run(shell, "aws known", "fails aws known")).rejects.toThrow();
  await run(shell, "aws known", "fails aws unknown");
});

test("what a block has started ends with the block or with the rehearsal", async () => {
  const stopped = new AbortController();
  await run(shell, "sleep 600 &");
  const running = run({ ...shell, signal: stopped.signal }, "sleep 600");
  stopped.abort();
  await expect(running).rejects.toThrow("Stopped:");
  await expect(run({ ...shell, signal: stopped.signal }, ":")).rejects.toThrow("aborted");
});
