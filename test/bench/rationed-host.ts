import { randomUUID } from "node:crypto";
import { mkdirSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { type ExecutionEnvironment, startEnvironment } from "../../infra/local/lambda/execution-environment.ts";
import type { FunctionResponse } from "../../infra/local/lambda/function-response.ts";
import type { LambdaHost } from "../../infra/local/lambda/lambda-host.ts";
import type { FunctionDefinition } from "../../infra/local/lambda/runtime-process.ts";

/** A host with one execution environment per function, which has a whole CPU only until it is initialised. */
export interface RationedHost extends LambdaHost {
  /** Resolves when the function has asked for its first event. */
  start(name: string): Promise<void>;
  /** Resolves when the whole response to an event is here. */
  respond(name: string, event: unknown): Promise<void>;
}

/** @param shares by the functions' memory in megabytes. */
export function rationedHost(definitions: FunctionDefinition[], shares: Map<number, CpuShare>): RationedHost {
  const environments = new Map<string, ExecutionEnvironment>();
  const start = async (name: string): Promise<ExecutionEnvironment> => {
    const running = environments.get(name);
    if (running !== undefined) return running;
    const definition = definitions.find((candidate) => candidate.name === name);
    if (definition === undefined) throw new Error(`There is no function ${name}`);
    const environment = startEnvironment(definition, () => {});
    environments.set(name, environment);
    await environment.ready;
    shares.get(definition.memoryMegabytes)?.hold(environment.pid() ?? 0);
    return environment;
  };
  const invoke = async (name: string, event: unknown): Promise<FunctionResponse> => {
    const environment = await start(name);
    const response = Promise.withResolvers<FunctionResponse>();
    void environment.run({ requestId: randomUUID(), event: JSON.stringify(event), response, signal: undefined });
    return response.promise;
  };
  return {
    start: async (name) => void (await start(name)),
    invoke,
    respond: async (name, event) => {
      const response = await invoke(name, event);
      if (response.kind === "streamed") await buffer(response.body);
    },
    pids: (name) => [environments.get(name)?.pid() ?? 0],
    stop: async () => {
      await Promise.all([...environments.values()].map((environment) => environment.stop()));
    },
  };
}

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
