import { randomUUID } from "node:crypto";
import { existsSync, mkdtempSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  ExecutionEnvironment,
  type FunctionResponse,
  type Invocation,
} from "../../infra/tools/local/lambda/execution-environment.ts";
import type { FunctionDefinition } from "../../infra/tools/local/template/functions.ts";
import { wholeCpuMegabytes } from "./prices.ts";

/**
 * Starts a function, which has a whole CPU until it asks for its first event, and then its memory's
 * share of one. Resolves with its environment, and what invokes it.
 */
export async function startRationed(
  definition: FunctionDefinition,
  cleanup: AsyncDisposableStack,
) {
  const limit = cpuShare(definition.MemorySize / wholeCpuMegabytes, cleanup);
  const asked = Promise.withResolvers<void>();
  const waiting: Invocation[] = [];
  const environment = new ExecutionEnvironment(
    definition,
    () => {},
    () => {
      asked.resolve();
      return waiting.shift();
    },
  );
  cleanup.defer(() => environment.stop());
  environment.ended.then(asked.reject);
  await asked.promise;
  if (environment.pid !== undefined) limit(environment.pid);
  const invoke = async (input: unknown): Promise<FunctionResponse> => {
    const response = Promise.withResolvers<FunctionResponse>();
    const { signal } = new AbortController();
    const event = JSON.stringify(input);
    waiting.push({ requestId: randomUUID(), event, response, signal });
    environment.begin();
    return await response.promise;
  };
  return { environment, invoke };
}

/** In microseconds: how often the kernel refills a share. */
const period = 20_000;

/**
 * Makes a cgroup (version 1 or 2) whose processes get this share of one CPU, from 0 to 1, and
 * returns what puts a process into it. Throws where we may make none.
 */
export function cpuShare(share: number, cleanup: AsyncDisposableStack) {
  const root = "/sys/fs/cgroup";
  const isVersion2 = existsSync(join(root, "cgroup.controllers"));
  const group = mkdtempSync(join(root, isVersion2 ? "" : "cpu", "pet-store-orders-"));
  const set = (file: string, value: unknown) =>
    writeFileSync(join(group, file), `${value}`);
  cleanup.defer(() => rmdirSync(group));
  const quota = Math.round(share * period);
  if (isVersion2) {
    writeFileSync(join(root, "cgroup.subtree_control"), "+cpu");
    set("cpu.max", `${quota} ${period}`);
  } else {
    set("cpu.cfs_period_us", period);
    set("cpu.cfs_quota_us", quota);
  }
  return (pid: number) => set("cgroup.procs", pid);
}
