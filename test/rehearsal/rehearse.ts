// `npm run rehearse` runs the runbook's commands in an AWS account that MiniStack emulates here.
import { spawn } from "node:child_process";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { freePort } from "../../infra/tools/local/machine/ports.ts";
import { endGroup, run, type Shell } from "./shell.ts";
import { findCommands, life, runbook, type Step } from "./steps.ts";

const stopped = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.once(signal, () => stopped.abort());
await using started = new AsyncDisposableStack();
try {
  const found = findCommands(runbook, life);
  console.log("Set up a clone with its dependencies, the AWS command line, MiniStack");
  const shell = await setUpShell();
  for (const [section, steps] of Object.entries(life)) {
    console.log(`\n${section}`);
    for (const step of steps) await runStep(step, found.get(step) ?? "", shell);
  }
  console.log(
    "\nThe runbook keeps its promises here. Not shown: streaming, TLS, alarms, canaries and IAM.",
  );
} catch (error) {
  console.error(`\n${error instanceof Error ? error.message : error}`);
  process.exitCode = 1;
}

async function runStep(step: Step, commands: string, shell: Shell) {
  // The first line, without its comment.
  const [name] = commands.split(/ *(?:#|\\?\n)/);
  if ("skip" in step) {
    console.log(`  not run: \`${name}\`: ${step.because}`);
  } else if ("meanwhile" in step) {
    console.log(`  meanwhile ${step.meanwhile}`);
    await run(shell, step.commands);
  } else if ("parse" in step) {
    console.log(`  parsed: \`${name}\`: ${step.because}`);
    await run(
      shell,
      `aws() { command aws "$@" --generate-cli-skeleton output || kill $$; }\n${commands}`,
    );
  } else {
    console.log(`  run: \`${name}\`, then \`${step.check}\``);
    await run(shell, commands, step.check);
  }
}

/** Starts MiniStack, and opens a shell in a temporary clone of this working copy as it is. */
async function setUpShell() {
  const scratch = await mkdtemp(join(tmpdir(), "rehearsal-"));
  started.defer(() => rm(scratch, { recursive: true, force: true, maxRetries: 5 }));
  const repository = fileURLToPath(new URL("../..", import.meta.url));
  const files = fileURLToPath(new URL(".", import.meta.url));
  // Without what leads to an account, a clone or a Node.js version.
  const leading = /^(AWS|CDK|GIT|INIT_CWD|NODE_OPTIONS|npm_lifecycle|npm_package)/;
  const neutral = Object.entries(process.env).filter(([name]) => !leading.test(name));
  const env = {
    ...Object.fromEntries(neutral),
    PATH: `${dirname(process.execPath)}:${process.env["PATH"]}`,
    SCRATCH: scratch,
    PORT: String(await freePort()),
  };
  const shell = { cwd: join(scratch, "clone"), env, signal: stopped.signal };
  await mkdir(shell.cwd);
  await run(
    shell,
    `python3 -m venv ../venv
    ../venv/bin/pip install --quiet --requirement "${files}emulator/requirements.txt"
    commit=$(git -C "${repository}" stash create)
    git -C "${repository}" archive "\${commit:-HEAD}" | tar -x
    sed 's|"../../infra/|"./|; s|"../helpers/|"../test/helpers/|' \
      "${files}environments.ts" > infra/environments.ts
    echo 'export function addOwnParts() {}' > infra/own.ts
    git init -q -b main; git config user.name Operator; git config user.email operator@localhost
    git add --all; git commit -qm "Everything as it is"
    git init -q --bare ../origin.git; git remote add origin ../origin.git; git push -qu origin main
    npm ci; echo > "$ROLLOUT"`,
  );
  const ministack = `. "${files}operator.sh"
    export NODE_OPTIONS='--require="${files}emulator/awslambda.cjs"'
    export BIND_HOST=127.0.0.1 GATEWAY_PORT=$PORT LOG_LEVEL=CRITICAL
    exec python3 "${files}emulator/emulator.py"`;
  const { pid } = spawn("bash", ["-c", ministack], {
    env,
    stdio: ["ignore", "ignore", "inherit"],
    detached: true,
  });
  started.defer(() => endGroup(pid));
  await run(
    shell,
    'curl -fsS --retry 60 --retry-delay 1 --retry-connrefused "$AWS_ENDPOINT_URL/_ministack/health"',
  );
  return shell;
}
