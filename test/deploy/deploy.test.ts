import { execFile } from "node:child_process";
import { symlink } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { DescribeTableCommand, ResourceNotFoundException } from "@aws-sdk/client-dynamodb";
import { expect, onTestFinished, test, vi } from "vitest";
import { environments } from "../../infra/environments.ts";
import { readAssembly } from "../helpers/read-assembly.ts";
import { useApp } from "./app.ts";
import { cloudFormation, dynamoDb, region, useAws } from "./aws.ts";
import { stackName } from "./environments.ts";

useAws();
const app = useApp();

const accept = ["--accept", "List.Environment.Variables.ORDERS_TABLE=NEW termination-protection"];

const noTable = new ResourceNotFoundException({ message: "", $metadata: {} });

/** Deploys the synthesised app, with its findings accepted. */
const deploy = (...options: string[]) =>
  app.run("deploy", "kept", ...accept, "--app", app.directory, ...options);

test("nothing is deployed while a finding is not accepted", async () => {
  const { exitCode, output } = await app.run("deploy", "kept", "--app", app.directory);
  expect(exitCode).toBe(1);
  expect(output.filter((line) => line.startsWith("cdk "))).toEqual([]);
});

test("CDK deploys exactly the stack and the assembly that were compared", async () => {
  const { output } = await deploy("--require-approval", "never", "--revert-drift");
  const options = "--exclusively --require-approval never --revert-drift";
  expect(output.at(-1)).toBe(`cdk deploy ${stackName} ${options} --app ${app.directory}`);
});

test.each([
  ["another stack", "PetStoreOrders-production"],
  ["all stacks", "--all"],
  ["another role", "--role-arn=arn:aws:iam::111111111111:role/other"],
  ["a misspelt option", "--acept=tls"],
])("nothing is compared or deployed with %s on the command line", async (_, word) => {
  const output = [expect.stringMatching(/^error: (too many|unknown opt)/)];
  expect(await deploy(word)).toEqual({ exitCode: 2, output });
});

test.each([
  ["missing", () => dynamoDb.on(DescribeTableCommand).rejects(noTable)],
  [
    "CREATING",
    () => dynamoDb.on(DescribeTableCommand).resolves({ Table: { TableStatus: "CREATING" } }),
  ],
])("nothing is deployed while a table of the stack is %s", async (status, answer) => {
  answer();
  expect(await deploy("--revert-drift")).toEqual({
    exitCode: 2,
    output: [`Table Orders-1 is ${status}: restore it first (infra/ON-CALL.md, A deleted table)`],
  });
});

test("a deployment ends with CDK's exit code", async () => {
  expect(await deploy()).toMatchObject({ exitCode: 7 });
});

test("a deployment fails when CDK is killed", async () => {
  await app.endCdkWith("kill $$");
  expect(await deploy()).toMatchObject({ exitCode: 1 });
});

test("a deployment fails when CDK can't be started", async () => {
  await app.removeCdk();
  const { exitCode, output } = await deploy();
  expect(exitCode).toBe(2);
  expect(output.at(-1)).toBe(
    "The packages are not all installed (spawn cdk ENOENT). Run: npm ci --include=dev",
  );
});

test("the comparison and CDK use the given profile", async () => {
  // The SDK says that a later version may prefer the keys of the environment.
  const warn = vi.spyOn(console, "warn").mockReturnValue();
  onTestFinished(() => warn.mockRestore());
  vi.stubEnv("AWS_PROFILE", "of-the-shell");
  const { output } = await deploy("--profile", "other");
  const clients = cloudFormation.calls().map(({ thisValue }) => thisValue);
  const keys = await Promise.all(clients.map(({ config }) => config.credentials()));
  expect(new Set(keys.map(({ accessKeyId }) => accessKeyId))).toEqual(new Set(["other"]));
  expect(output).toContainEqual(expect.stringMatching(/^cdk deploy .* --profile other /));
});

test.each([
  ["AWS_REGION", "eu-west-3", "eu-west-3"],
  ["AWS_DEFAULT_REGION without AWS_REGION", undefined, region],
])("the comparison uses CDK's region: %s", async (_, ownRegion, expected) => {
  vi.stubEnv("AWS_REGION", ownRegion);
  await deploy();
  const clients = cloudFormation.calls().map(({ thisValue }) => thisValue);
  const regions = await Promise.all(clients.map(({ config }) => config.region()));
  expect(new Set(regions)).toEqual(new Set([expected]));
});

/** Makes the app the one that is synthesised into `cdk.out` of the current directory. */
async function useOwnAssembly(): Promise<void> {
  const home = process.cwd();
  process.chdir(app.directory);
  onTestFinished(() => process.chdir(home));
  await symlink(".", "cdk.out");
}

test("without --app, the app is synthesised with the given context", async () => {
  await useOwnAssembly();
  await app.endCdkWith('[ "$1" = synth ] || exit 7');
  const context = ["-c", "canary=false", "--context", "a=b c"];
  const { exitCode, output } = await app.run("deploy", "kept", ...accept, ...context);
  expect(exitCode).toBe(7);
  expect(output.slice(-2)).toEqual([
    "cdk synth --quiet --output cdk.out --context canary=false --context a=b c",
    `cdk deploy ${stackName} --exclusively --app cdk.out`,
  ]);
});

test("a failed synthesis ends the command with its error", async () => {
  await app.endCdkWith("echo The reason >&2; exit 1");
  const { exitCode, output } = await app.run("deploy", "kept", ...accept);
  expect(exitCode).toBe(2);
  expect(output[0]).toBe("Synthesis failed: The reason");
});

test("a synthesis that can't be started ends the command with the reason", async () => {
  await app.removeCdk();
  const output = ["Synthesis failed: spawn cdk ENOENT"];
  expect(await app.run("compare", "kept")).toEqual({ exitCode: 2, output });
});

test("drift fails for what was changed by hand, by CDK's exit code", async () => {
  const { exitCode, output } = await app.run("drift", "kept");
  expect({ exitCode, output }).toEqual({ exitCode: 7, output: [`cdk drift ${stackName} --fail`] });
});

test("a diff has the stack and the options of a deployment", async () => {
  const { output } = await app.run("diff", "kept", "--app", app.directory);
  expect(output).toEqual([`cdk diff ${stackName} --exclusively --app ${app.directory}`]);
});

/** Runs the command itself, by default with CDK itself. */
function runCommand(words: string[], path = process.env["PATH"]) {
  const command = fileURLToPath(new URL("../../infra/deploy/deploy.ts", import.meta.url));
  const env = { ...process.env, PATH: path };
  return promisify(execFile)(process.execPath, [command, ...words], { env });
}

test("npm run diff ends with the exit code of cdk diff", async () => {
  await app.endCdkWith('echo "cdk $*"; exit 7');
  const ended = runCommand(["diff", "staging"], app.directory);
  const stdout = `cdk diff ${environments.staging.stackName} --exclusively\n`;
  await expect(ended).rejects.toMatchObject({ code: 7, stdout });
});

test("a diff with a saved template says that it doesn't show what is deployed", async () => {
  const { output } = await app.run("diff", "kept", "--template", "saved.json");
  expect(output[0]).toBe("Compared with a saved template, not with what is deployed.");
});

test("cdk diff accepts a saved template", async () => {
  const { directory } = await readAssembly();
  const { name, stackName } = environments.staging;
  const template = join(directory, `${stackName}.template.json`);
  const words = ["diff", name, "--app", directory, "--template", template];
  const { stdout, stderr } = await runCommand(words);
  expect(stdout + stderr).toContain("There were no differences");
});
