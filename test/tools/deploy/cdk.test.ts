import { spawnSync } from "node:child_process";
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { petstore } from "../../helpers/admin-command.ts";
import { readAssembly } from "../../helpers/read-assembly.ts";
import { directory, driftIsCheckedOf, run } from "./command.ts";

const path = process.env["PATH"];

test.each([
  ["drift kept", "drift STACK --fail"],
  ["diff kept --security-only", "diff STACK --exclusively --security-only"],
  ["diff kept --template=./saved.json", "diff STACK --exclusively --template saved.json"],
  ["diff kept --strict --app=./a", "diff STACK --exclusively --app a --strict"],
  ["synth -o ./a -c b=c", "synth --quiet --output a -c b=c"],
])("%s is CDK's, with the caller's paths and CDK's exit code", async (words, call) => {
  expect(await run(words)).toBe(`cdk ${call}\nexit code 7`);
});

const policies = "give the role the policies of infra/PERMISSIONS.md, Drift";

const insistedOn = ["DynamoDB::Table", "ApiGateway::RestApi", "Lambda::Alias"];

test.each([undefined, ...insistedOn])(
  "when CDK finds no drift, the command asks what was checked; this was not: %s",
  async (unchecked) => {
    const [text, exitCode] = unchecked
      ? [`No AWS::${unchecked} was checked for drift: ${policies}\n`, 2]
      : ["", 0];
    vi.stubEnv("FAKE_DOES", "exit 0");
    driftIsCheckedOf(insistedOn, unchecked);
    expect(await run("drift kept")).toBe(
      `${text}cdk drift STACK --fail\nexit code ${exitCode}`,
    );
  },
);

test("infra/petstore diff takes what is typed, shows what cdk diff prints, and ends with its exit code", async () => {
  const { directory: app } = await readAssembly();
  const [file = ""] = globSync(join(app, "*.template.json"));
  const template = join(directory, "other.json");
  // A difference in outputs only: CDK takes a second to compare resources.
  const { Outputs: _, ...other } = JSON.parse(readFileSync(file, "utf8"));
  writeFileSync(template, JSON.stringify(other));
  vi.stubEnv("FAKE_DOES", `read reply; echo $reply; PATH="${path}"; exec cdk "$@"`);
  const options = ["--app", app, "--template", template, "--fail"];
  const words = [...petstore, "diff", "staging", ...options];
  const typing = { encoding: "utf8", input: "typed\n" } as const;
  const { status, output } = spawnSync(process.execPath, words, typing);
  expect(output.join("")).toMatch(/typed.*\[\+\] Output OrdersTableName/s);
  expect(status).toBe(1);
});
