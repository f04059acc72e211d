import {
  type LocalStackOptions,
  startLocalStack,
} from "../../infra/tools/local/local-stack.ts";
import { synthesiseStaging } from "../../infra/tools/local/template/synthesis.ts";
import { temporaryFolder } from "./temporary-folder.ts";

/** Starts the service at a free port, for programs that vitest does not run. */
export async function startStack(
  cleanup: AsyncDisposableStack,
  options: LocalStackOptions,
) {
  const { path } = cleanup.use(await temporaryFolder());
  const build = (signal: AbortSignal) => synthesiseStaging(path, signal);
  return await startLocalStack(cleanup, build, { port: 0, ...options });
}
