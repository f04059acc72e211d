import { expect, test } from "vitest";
import { machineHas } from "../helpers/machine.ts";
import { cpuMilliseconds, peakIn } from "./processes.ts";

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

test("a process's memory is the most that it has had, not what it has now", () => {
  expect(peakIn("Name:\tnode\nVmPeak:\t 9216 kB\nVmHWM:\t 2048 kB\nVmRSS:\t 1024 kB\n")).toBe(2);
});
