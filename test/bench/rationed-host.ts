import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import {
  ExecutionEnvironment,
  type Invocation,
} from "../../infra/local/lambda/execution-environment.ts";
import type { FunctionResponse } from "../../infra/local/lambda/function-response.ts";
import type { FunctionDefinition } from "../../infra/local/lambda/runtime-process.ts";

/** Holds a process to a share of one CPU from now on. */
export type LimitProcess = (pid: number) => void;

/**
 * A host with one execution environment per function, which has a whole CPU only until it is
 * initialised.
 *
 * @param shares by the functions' memory in megabytes.
 */
export function rationedHost(definitions: FunctionDefinition[], shares: Map<number, LimitProcess>) {
  const environments = new Map<string, ExecutionEnvironment>();
  let waiting: Invocation | undefined;
  const start = async (name: string): Promise<ExecutionEnvironment> => {
    const running = environments.get(name);
    if (running !== undefined) return running;
    const definition = definitions.find((candidate) => candidate.name === name);
    if (definition === undefined) throw new Error(`There is no function ${name}`);
    const ready = Promise.withResolvers<void>();
    const take = () => {
      ready.resolve();
      const invocation = waiting;
      waiting = undefined;
      return invocation;
    };
    const environment = new ExecutionEnvironment(definition, () => {}, take);
    environment.ended.then(ready.reject);
    environments.set(name, environment);
    await ready.promise;
    const { pid } = environment;
    const limit = shares.get(definition.memoryMegabytes);
    if (pid === undefined || limit === undefined) throw new Error(`${name} can't be limited`);
    limit(pid);
    return environment;
  };
  const invoke = async (name: string, event: unknown): Promise<FunctionResponse> => {
    const environment = await start(name);
    const response = Promise.withResolvers<FunctionResponse>();
    const { signal } = new AbortController();
    waiting = { requestId: randomUUID(), event: JSON.stringify(event), response, signal };
    environment.begin();
    return response.promise;
  };
  return {
    /** Resolves when the function has asked for its first event. */
    start,
    invoke,
    /** Resolves when the whole response to an event has arrived. */
    respond: async (name: string, event: unknown): Promise<void> => {
      const response = await invoke(name, event);
      if (response.kind === "streamed") await buffer(response.body);
    },
    stop: async (): Promise<void> => {
      await Promise.all([...environments.values()].map((environment) => environment.stop()));
    },
  };
}

/** How often the kernel refills a process's share, in microseconds. */
const period = 20_000;

/**
 * Makes a group of processes that share one CPU in part, as Lambda does, with the kernel's cgroups
 * (version 1 or 2), which takes root.
 *
 * @param share from 0 to 1.
 * @param cleanup removes the group, which must have no processes by then.
 * @param root where the cgroups are mounted.
 * @returns a function that puts a process into the group.
 * @throws Error when this machine has no such cgroups, or we may not use them.
 */
export function cpuShare(
  share: number,
  cleanup: AsyncDisposableStack,
  root = "/sys/fs/cgroup",
): LimitProcess {
  const isVersion2 = existsSync(join(root, "cgroup.controllers"));
  const parent = isVersion2 ? root : join(root, "cpu");
  const group = join(parent, `pet-store-orders-${process.pid}-${Math.round(share * 1000)}`);
  mkdirSync(group);
  cleanup.defer(() => rmdirSync(group));
  const quota = Math.round(share * period);
  if (isVersion2) {
    writeFileSync(join(root, "cgroup.subtree_control"), "+cpu");
    writeFileSync(join(group, "cpu.max"), `${quota} ${period}`);
  } else {
    writeFileSync(join(group, "cpu.cfs_period_us"), `${period}`);
    writeFileSync(join(group, "cpu.cfs_quota_us"), `${quota}`);
  }
  return (pid) => writeFileSync(join(group, "cgroup.procs"), `${pid}`);
}
