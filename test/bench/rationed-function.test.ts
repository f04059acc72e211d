import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { cpuShare } from "./rationed-function.ts";

// A folder stands in for the kernel: this shows what is written there, not what it does.
test("with cgroups of version 2, a share of a CPU is a quota in cpu.max", () => {
  const root = mkdtempSync(join(tmpdir(), "cgroup-"));
  onTestFinished(() => rmSync(root, { recursive: true }));
  writeFileSync(join(root, "cgroup.controllers"), "cpuset cpu io memory");
  cpuShare(512 / 1769, new AsyncDisposableStack(), root)(42);
  const [group = ""] = readdirSync(root).filter((name) =>
    name.startsWith("pet-store-orders"),
  );
  const files = [
    "cgroup.subtree_control",
    join(group, "cpu.max"),
    join(group, "cgroup.procs"),
  ];
  const texts = files.map((name) => readFileSync(join(root, name), "utf8"));
  expect(texts).toEqual(["+cpu", "5789 20000", "42"]);
});
