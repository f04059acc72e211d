import { mkdirSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Microseconds: how often the kernel refills a process's share. */
const period = 20_000;

/** Holds processes to a share of one CPU, as Lambda does. */
export interface CpuShare {
  hold(pid: number): void;
}

/**
 * A share of one CPU, by the kernel's cgroups (version 1), which takes root.
 *
 * @param share from 0 to 1.
 * @param cleanup removes it. Then no held process may be left.
 * @param controller where this machine has its cgroups.
 * @throws Error when this machine has no such cgroups, or we may not use them.
 */
export function cpuShare(
  share: number,
  cleanup: Pick<DisposableStack, "defer">,
  controller = "/sys/fs/cgroup/cpu",
): CpuShare {
  const group = join(controller, `pet-store-orders-${process.pid}-${Math.round(share * 1000)}`);
  mkdirSync(group);
  cleanup.defer(() => rmdirSync(group));
  writeFileSync(join(group, "cpu.cfs_period_us"), String(period));
  writeFileSync(join(group, "cpu.cfs_quota_us"), String(Math.round(share * period)));
  return { hold: (pid) => writeFileSync(join(group, "cgroup.procs"), String(pid)) };
}
