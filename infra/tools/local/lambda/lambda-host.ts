import { randomUUID } from "node:crypto";
import { addAbortListener } from "node:events";
import type { FunctionDefinition } from "../template/functions.ts";
import {
  ExecutionEnvironment,
  type FunctionResponse,
  type Invocation,
  stopped,
} from "./execution-environment.ts";

export interface LambdaHostOptions {
  /**
   * Gets each line that a function or the local stack logs, and one line for each process that
   * crashes.
   */
  log: (line: string) => void;
  /**
   * How many execution environments one function may have, 4 by default; further invocations wait
   * for a free one.
   */
  maxEnvironments?: number;
}

/**
 * Runs functions as Lambda does: one invocation at a time in a process, processes reused while they
 * live.
 */
export type LambdaHost = ReturnType<typeof createLambdaHost>;

/**
 * Creates a host for these functions. No process starts yet: each function's first invocation is a
 * cold start.
 */
export function createLambdaHost(
  definitions: FunctionDefinition[],
  options: LambdaHostOptions,
) {
  const stopping = new AbortController();
  const pools = new Map(
    definitions.map((definition) => [definition.name, createPool(definition, options)]),
  );
  return {
    /**
     * Invokes a function with an event. A signal that aborts gives up waiting; a late response is
     * discarded.
     *
     * @throws FunctionFailure when the function fails, crashes or times out; the signal's reason
     * when that aborts.
     */
    invoke: async (name: string, event: unknown, signal = stopping.signal) => {
      const pool = pools.get(name);
      if (pool === undefined) throw new Error(`There is no function ${name}`);
      return pool.invoke(event, AbortSignal.any([stopping.signal, signal]));
    },
    /** Starts a process of every function. */
    warm: () => {
      if (!stopping.signal.aborted) for (const { start } of pools.values()) start();
    },
    /** Ends every process. Invocations under way fail. */
    stop: async () => {
      stopping.abort(stopped);
      await Promise.all([...pools.values()].map(({ stop }) => stop()));
    },
  };
}

/** The execution environments of one function and the invocations that wait for one. */
function createPool(
  definition: FunctionDefinition,
  { log, maxEnvironments = 4 }: LambdaHostOptions,
) {
  const environments = new Set<ExecutionEnvironment>();
  let waiting: Invocation[] = [];
  // A debugger that is attached to one process would miss the requests of another.
  const most = definition.inspectPort ? 1 : maxEnvironments;

  const start = () => {
    const environment = new ExecutionEnvironment(definition, log, () => waiting.shift());
    environments.add(environment);
    environment.ended.then((initFailure) => {
      environments.delete(environment);
      if (initFailure !== undefined) waiting.shift()?.response.reject(initFailure);
      dispatch();
    });
  };
  const dispatch = () => {
    // The oldest first, so that as few processes as possible are busy.
    for (const environment of environments) environment.begin();
    const busy = [...environments].filter(({ isBusy }) => isBusy).length;
    if (busy + waiting.length > environments.size && environments.size < most) start();
  };

  return {
    start,
    invoke: async (event: unknown, signal: AbortSignal) => {
      signal.throwIfAborted();
      const response = Promise.withResolvers<FunctionResponse>();
      const requestId = randomUUID();
      const invocation = { requestId, event: JSON.stringify(event), response, signal };
      using _ = addAbortListener(signal, () => {
        waiting = waiting.filter((other) => other !== invocation);
        response.reject(signal.reason);
      });
      waiting.push(invocation);
      dispatch();
      return await response.promise;
    },
    stop: () => Promise.all([...environments].map((environment) => environment.stop())),
  };
}
