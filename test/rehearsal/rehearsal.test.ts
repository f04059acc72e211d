import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { run } from "./shell.ts";
import { findCommands, life, runbook } from "./steps.ts";

test("the rehearsal knows every block of the runbook, and fails for one that is added", () => {
  expect(findCommands(runbook, life).size).toBeGreaterThan(30);
  for (const block of [
    "```sh\naws new\n```",
    "   ```bash\n   aws new\n   ```",
    "```\naws new\n```",
  ]) {
    expect(() => findCommands(`${runbook}\n${block}\n`, life)).toThrow(
      "Delete a stack: neither run nor listed: aws new",
    );
  }
});

/** A shell in a folder of its own, where `aws` knows one command. */
async function shell() {
  const cwd = await mkdtemp(join(tmpdir(), "pet-store-orders-rehearsal-"));
  onTestFinished(() => rm(cwd, { recursive: true }));
  await writeFile(join(cwd, "aws"), '#!/bin/sh\n[ "$1" = known ]', { mode: 0o755 });
  const env = { PATH: `${cwd}:${process.env["PATH"]}`, SCRATCH: cwd, PORT: "0" };
  return { cwd, env, signal: new AbortController().signal };
}

test("a block without a mistake passes", async () => {
  await run(await shell(), "aws known; echo shipped", "printed shipped; fails aws unknown");
});

test.each([
  ["awss known"],
  ["echoo 1 && true\ntrue"],
  ["until aws unknown; do sleep 1; done"],
  ['echo "$(aws unknown)"'],
  ["aws unknown && true\ntrue"],
  ["false | cat"],
  ['aws known "$NOBODY"'],
  ["aws known; echo pending", "printed shipped"],
  ["aws known", "fails aws known"],
])("a block fails at the mistake in `%s` %s", async (block, check = "") => {
  await expect(run(await shell(), block, check)).rejects.toThrow(`Failed:\n${block}\n${check}`);
});
