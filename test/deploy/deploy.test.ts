import { execFile } from "node:child_process";
import { symlink } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, onTestFinished, test, vi } from "vitest";
import { environments } from "../../infra/environments.ts";
import { readAssembly } from "../helpers/read-assembly.ts";
import { cloudFormation, region, stackName, useApp, useAws } from "./commands.ts";

useAws();
const app = useApp();

const accept = ["--accept", "orders-table-in-use termination-protection"];
const adopting = "--exclusively --import-existing-resources";

test("nothing is deployed while a finding is not accepted", async () => {
  const { exitCode, output } = await app.run("deploy", "kept", "--app", app.directory);
  expect([exitCode, output.filter((line) => String(line).startsWith("cdk "))]).toEqual([1, []]);
});

test("the exact stack of the assembly that was compared is deployed", async () => {
  const options = ["--require-approval", "never"];
  const { output } = await app.run("deploy", "kept", ...accept, "--app", app.directory, ...options);
  expect(output.at(-1)).toBe(
    `cdk deploy ${stackName} ${adopting} --require-approval never --app ${app.directory}`,
  );
});

test.each([
  ["another stack", "PetStoreOrders-production"],
  ["all stacks", "--all"],
  ["another role", "--role-arn=arn:aws:iam::111111111111:role/other"],
  ["a misspelt option", "--acept=tls"],
])("nothing is compared or deployed with %s on the command line", async (_, word) => {
  const { exitCode, output } = await app.run("deploy", "kept", ...accept, word);
  expect([exitCode, output]).toEqual([
    2,
    [expect.stringMatching(/^error: (too many|unknown opt)/)],
  ]);
});

test("the exit code is CDK's own", async () => {
  const { exitCode } = await app.run("deploy", "kept", ...accept, "--app", app.directory);
  expect(exitCode).toBe(7);
});

test("a deployment fails when CDK is killed", async () => {
  await app.cdkEnds("kill $$");
  const { exitCode } = await app.run("deploy", "kept", ...accept, "--app", app.directory);
  expect(exitCode).toBe(1);
});

test.each([undefined, "eu-west-3"])(
  "the comparison asks where CDK deploys, by its profile, with AWS_REGION %s",
  async (ownRegion) => {
    // The SDK says that a later version may prefer the keys of the environment.
    const warn = vi.spyOn(console, "warn").mockReturnValue();
    onTestFinished(() => warn.mockRestore());
    vi.stubEnv("AWS_REGION", ownRegion);
    vi.stubEnv("AWS_PROFILE", "of-the-shell");
    const options = ["--app", app.directory, "--profile", "other"];
    const { output } = await app.run("deploy", "kept", ...options, ...accept);
    expect(output).toContainEqual(expect.stringMatching(/^cdk deploy .* --profile other /));
    for (const { thisValue } of cloudFormation.calls()) {
      expect(await thisValue.config.region()).toBe(ownRegion ?? region);
      expect(await thisValue.config.credentials()).toMatchObject({ accessKeyId: "other" });
    }
  },
);

/** Makes the app the one that is synthesised into `cdk.out` of the current directory. */
async function useOwnAssembly(): Promise<void> {
  const home = process.cwd();
  process.chdir(app.directory);
  onTestFinished(() => process.chdir(home));
  await symlink(".", "cdk.out");
}

test("an app that does not exist yet is synthesised with the context given", async () => {
  await useOwnAssembly();
  await app.cdkEnds('[ "$1" = synth ] || exit 7');
  const context = ["-c", "canary=false", "--context", "a=b c"];
  const { exitCode, output } = await app.run("deploy", "kept", ...accept, ...context);
  expect([exitCode, output.slice(-2)]).toEqual([
    7,
    [
      "cdk synth --quiet --output cdk.out --context canary=false --context a=b c",
      `cdk deploy ${stackName} ${adopting} --app cdk.out`,
    ],
  ]);
});

test("a synthesis that fails ends the command with what it says", async () => {
  await app.cdkEnds("echo The reason >&2; exit 1");
  const { exitCode, output } = await app.run("deploy", "kept", ...accept);
  expect([exitCode, output[0]]).toEqual([2, "Synthesis failed: The reason"]);
});

test("a diff is of the exact stack and adopts tables as a deployment does", async () => {
  const { output } = await app.run("diff", "kept", "--app", app.directory);
  expect(output).toEqual([`cdk diff ${stackName} ${adopting} --app ${app.directory}`]);
});

/** Runs the command itself, by default with CDK itself. */
function runCommand(words: string[], path = process.env["PATH"]) {
  const command = fileURLToPath(new URL("../../infra/deploy/deploy.ts", import.meta.url));
  const env = { ...process.env, PATH: path };
  return promisify(execFile)(process.execPath, [command, ...words], { env });
}

test("npm run diff ends as CDK's diff of the stack does", async () => {
  const [{ name, stackName } = { name: "", stackName: "" }] = Object.values(environments);
  await app.cdkEnds('echo "cdk $*"; exit 7');
  const ended = runCommand(["diff", name], `${app.directory}:${process.env["PATH"]}`);
  const stdout = `cdk diff ${stackName} ${adopting}\n`;
  await expect(ended).rejects.toMatchObject({ code: 7, stdout });
});

test("a diff with a saved template says that it is not one with what is deployed", async () => {
  const { output } = await app.run("diff", "kept", "--template", "saved.json");
  expect(output[0]).toBe("Compared with a saved template, not with what is deployed.");
});

test("CDK makes a diff with a saved template", async () => {
  const { directory } = await readAssembly();
  const { name, stackName } = environments.staging;
  const template = join(directory, `${stackName}.template.json`);
  const words = ["diff", name, "--app", directory, "--template", template];
  const { stdout, stderr } = await runCommand(words);
  expect(stdout + stderr).toContain("There were no differences");
});
