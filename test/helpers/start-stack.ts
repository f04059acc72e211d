import {
  type LocalStack,
  type LocalStackOptions,
  startLocalStack,
} from "../../infra/local/local-stack.ts";
import { synthesise } from "../../infra/local/template/synthesis.ts";
import { temporaryFolder } from "./temporary-folder.ts";

/** Starts the service at a free port, for programs that vitest does not run. */
export async function startStack(options: LocalStackOptions): Promise<LocalStack> {
  await using started = new AsyncDisposableStack();
  const { path } = started.use(await temporaryFolder());
  const stack = await startLocalStack((signal) => synthesise(path, { signal }), {
    port: 0,
    ...options,
  });
  started.defer(() => stack.stop());
  const running = started.move();
  return { ...stack, stop: () => running.disposeAsync() };
}
