import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { machineHas } from "../helpers/machine.ts";
import { cpuShare } from "./cpu-share.ts";
import { cpuMilliseconds, cpuPerRound, peakIn } from "./processes.ts";

test.runIf(machineHas("/proc", "the CPU that the bench counts"))("a process's CPU is what it says itself", () => {
  const own = (): number => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  };
  const [before, counted, after] = [own(), cpuMilliseconds(process.pid), own()];
  // The kernel counts in hundredths of a second.
  expect(counted).toBeGreaterThan(before - 30);
  expect(counted).toBeLessThan(after + 30);
});

test("a round's CPU is the process's share of what it has used since the work began", async () => {
  const used = new Map([
    [7, 1000],
    [8, 50],
  ]);
  const work = async () => {
    used.set(7, 1600);
    return "done";
  };
  const cpuOf = (pid: number) => used.get(pid) ?? Number.NaN;
  expect(await cpuPerRound({ ours: 7, floor: 8 }, 3, work, cpuOf)).toEqual({
    result: "done",
    cpu: { ours: 200, floor: 0 },
  });
});

test("a process's memory is the most that it has had, not what it has now", () => {
  expect(peakIn("Name:\tnode\nVmPeak:\t 9216 kB\nVmHWM:\t 2048 kB\nVmRSS:\t 1024 kB\n")).toBe(2);
});

test("a process is held to its share of every 20 ms, until the cleanup", () => {
  const controller = mkdtempSync(join(tmpdir(), "cpu-share-"));
  onTestFinished(() => rmSync(controller, { recursive: true }));
  const cleanup = new DisposableStack();
  cpuShare(0.25, cleanup, controller).hold(7);
  const [group = ""] = readdirSync(controller);
  const files = readdirSync(join(controller, group)).sort();
  const written = files.map((file) => [file, readFileSync(join(controller, group, file), "utf8")]);
  // The kernel removes a group with its files, but a folder here must be empty.
  for (const file of files) rmSync(join(controller, group, file));
  cleanup.dispose();
  expect(written).toEqual([
    ["cgroup.procs", "7"],
    ["cpu.cfs_period_us", "20000"],
    ["cpu.cfs_quota_us", "5000"],
  ]);
  expect(readdirSync(controller)).toEqual([]);
});
