import { expect, onTestFinished, test } from "vitest";
import { root } from "../helpers/admin-command.ts";
import { machineHas } from "../helpers/machine.ts";
import { descendants, isAlive } from "../helpers/processes.ts";
import { readAssembly } from "../helpers/read-assembly.ts";
import { createStarter, startLimit } from "./start-command.ts";

const { run } = await createStarter();

const local = new URL("../../infra/local/", import.meta.url);

/** Starts the local stack, as `npm start` does but for the build, and uses two of its functions. */
const idleStack = `
  import { startLocalStack } from "${local}local-stack.ts";
  import { readStack } from "${local}template/synthesis.ts";
  const stack = await startLocalStack(() => readStack(process.argv[1]), { port: 0, log: () => {} });
  const headers = { authorization: "Bearer " + stack.apiKey };
  await fetch(stack.baseUrl + "/store/orders/none", { method: "DELETE", headers });
  console.log("ready");
`;

/** Invokes a function that only waits. */
const busyFunction = `
  import { createLambdaHost } from "${local}lambda/lambda-host.ts";
  const hang = {
    name: "hang",
    arn: "arn:aws:lambda:us-east-1:000000000000:function:hang",
    directory: "${import.meta.dirname}/lambda",
    handler: "index.hang",
    timeoutSeconds: 900,
    memoryMegabytes: 256,
    environment: { AWS_LAMBDA_LOG_FORMAT: "JSON" },
  };
  createLambdaHost([hang], { log: console.log, maxEnvironments: 1 }).invoke("hang", {});
`;

test.runIf(machineHas("/proc or ps", "that a kill leaves nothing behind")).each([
  ["an idle local stack with its engine, the engine's watchdog and its functions", idleStack, 4],
  ["a Lambda host with its function, even while that is busy", busyFunction, 1],
])("SIGKILL ends %s", async (_, program, count) => {
  const { directory } = await readAssembly();
  const child = run([process.execPath, "--input-type=module", "--eval", program, directory], root);
  let processes: number[] = [];
  onTestFinished(() => {
    for (const pid of processes.filter(isAlive)) process.kill(pid, "SIGKILL");
  });
  await expect
    .poll(() => child.seen, startLimit)
    .toMatchObject({ stdout: expect.stringContaining("\n") });
  processes = await descendants(child.pid);
  expect(processes).toHaveLength(count);
  process.kill(child.pid, "SIGKILL");
  await expect.poll(() => processes.filter(isAlive)).toEqual([]);
});
