import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type LocalStack,
  type LocalStackOptions,
  startLocalStack,
} from "../../infra/local/local-stack.ts";
import { synthesise } from "../../infra/local/template/synthesis.ts";

/**
 * Starts the service at a free port, over bundles as they are deployed, for programs that vitest
 * does not run.
 */
export async function startStack(options: LocalStackOptions): Promise<LocalStack> {
  await using started = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), "pet-store-orders-"));
  started.defer(() => rm(directory, { recursive: true }));
  const stack = await startLocalStack((signal) => synthesise(directory, { signal }), {
    port: 0,
    ...options,
  });
  started.defer(() => stack.stop());
  const running = started.move();
  return { ...stack, stop: () => running.disposeAsync() };
}
