import { spawn } from "node:child_process";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { freePort } from "../../infra/local/machine/ports.ts";
import { endGroup, run, type Shell } from "./shell.ts";

const repository = fileURLToPath(new URL("../..", import.meta.url));
const files = fileURLToPath(new URL(".", import.meta.url));

/**
 * Clones, installs and starts what the runbook's commands need, in a temporary folder.
 *
 * @param started gets what must be ended.
 * @returns a shell in the clone of an `origin` whose `main` is this working copy as it is.
 * @throws Error when something, like Python, is missing, or can't be installed or started.
 */
export async function setStage(started: AsyncDisposableStack, signal: AbortSignal): Promise<Shell> {
  const scratch = await mkdtemp(join(tmpdir(), "rehearsal-"));
  started.defer(() => rm(scratch, { recursive: true, force: true, maxRetries: 5 }));
  // Nothing that leads to an account, a clone or a version of Node.js.
  const ours = /^(AWS|CDK|GIT|INIT_CWD|NODE_OPTIONS|npm_lifecycle|npm_package)/;
  const inherited = Object.fromEntries(Object.entries(process.env).filter(([name]) => !ours.test(name)));
  const PATH = `${dirname(process.execPath)}:${process.env["PATH"]}`;
  const env = { ...inherited, PATH, SCRATCH: scratch, PORT: String(await freePort()) };
  const shell = { cwd: join(scratch, "clone"), env, signal };
  await mkdir(shell.cwd);
  await run(
    shell,
    `python3 -m venv ../venv && ../venv/bin/pip install --quiet --requirement "${files}emulator/requirements.txt"
    commit=$(git -C "${repository}" stash create)
    git -C "${repository}" archive "\${commit:-HEAD}" | tar -x
    git init -q -b main; git config user.name Operator; git config user.email operator@localhost
    git add --all; git commit -qm "Everything as it is"
    git init -q --bare ../origin.git; git remote add origin ../origin.git; git push -qu origin main
    npm ci; echo > "$ROLLOUT"`,
  );
  const ministack = `. "${files}operator.sh"; export NODE_OPTIONS="--require=${files}emulator/awslambda.cjs"
    BIND_HOST=127.0.0.1 GATEWAY_PORT=$PORT LOG_LEVEL=CRITICAL exec python3 "${files}emulator/emulator.py"`;
  const { pid } = spawn("bash", ["-c", ministack], { env, stdio: ["ignore", "ignore", "inherit"], detached: true });
  started.defer(() => endGroup(pid));
  await run(shell, 'curl -fsS --retry 60 --retry-delay 1 --retry-connrefused "$AWS_ENDPOINT_URL/_ministack/health"');
  return shell;
}
