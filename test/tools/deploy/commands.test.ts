import { spawnSync } from "node:child_process";
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { StackStatus } from "@aws-sdk/client-cloudformation";
import {
  DescribeTableCommand,
  ResourceNotFoundException,
} from "@aws-sdk/client-dynamodb";
import { GetCallerIdentityCommand } from "@aws-sdk/client-sts";
import { describe, expect, test, vi } from "vitest";
import { petstore, root } from "../../helpers/admin-command.ts";
import { readAssembly } from "../../helpers/read-assembly.ts";
import {
  asked,
  directory,
  driftIsCheckedOf,
  dynamoDb,
  inherited,
  run,
  stackIs,
  stackName,
  sts,
  templateUsing,
} from "./command.ts";

const path = process.env["PATH"];
const saved = join(directory, "saved.json");

const compare = (options = "") => run(`compare kept --app ${directory} ${options}`);

const digest = "d2c6ae1e7f2a4669665ece9796b4d83b";
const deployKept = `deploy kept --accept '${digest} termination-protection'`;
const changes = `! Stack: loses its termination protection, and can then be deleted
List: Environment.Variables.ORDERS_TABLE: OLD becomes NEW`;

const questions = (key: string, region: string) =>
  [
    "GetCallerIdentity",
    `DescribeStacks ${stackName}`,
    `GetTemplate ${stackName}`,
    "DescribeTable Orders-1",
    "DescribeTable ApiKeys-1",
  ].map((question) => `${key} ${region} ${question}`);

const place = "in account 111111111111, region eu-central-1";
const compared = `STACK compared with what is deployed ${place}`;
const notDeployed = `STACK is not deployed ${place}`;

const stop = "STOP  Read every line. To accept them all: --accept";

describe("a comparison", () => {
  const other = "f".repeat(32);
  test.each([
    [
      "stops until its changes are accepted",
      "",
      `${stop} 'termination-protection ${digest}'`,
    ],
    [
      "stops if other changes are accepted",
      `${other} termination-protection`,
      `${stop} ${digest}`,
    ],
    [
      "passes when its words are among those that are accepted",
      `first-deployment\n\n${digest}  termination-protection `,
      "Accepted",
    ],
  ])("%s, also after a rollback", async (_, words, outcome) => {
    stackIs("UPDATE_ROLLBACK_COMPLETE");
    const text = await compare(words && `--accept '${words}'`);
    const exitCode = outcome === "Accepted" ? 0 : 1;
    expect(text).toBe(`${compared}\n${changes}\n${outcome}\nexit code ${exitCode}`);
  });

  test.each([
    ["kept", "the caller's region", "eu-west-3"],
    ["pinned", "its own region", "eu-central-1"],
  ])("of %s reads the stack and its tables in %s", async (environment, _, region) => {
    vi.stubEnv("AWS_REGION", "eu-west-3");
    const text = await run(`compare ${environment} --app ${directory}`);
    expect(text).toContain(`region ${region}\n`);
    expect(await asked()).toEqual(questions("test", region));
  });
});

test.each([
  [
    "Pet store orders service, kept",
    `STACK compared with APP/saved.json
List: Environment.Variables.ORDERS_TABLE: OLD becomes NEW
${stop} ${digest}
exit code 1`,
  ],
  [
    "Pet store orders service, loose",
    `APP/saved.json belongs to another environment: Pet store orders service, loose, not Pet store orders service, kept
exit code 2`,
  ],
  [
    undefined,
    `APP/saved.json belongs to another environment: no description, not Pet store orders service, kept
exit code 2`,
  ],
])(
  "a saved template with the description %j is compared without AWS",
  async (Description, text) => {
    writeFileSync(saved, JSON.stringify({ ...templateUsing("OLD"), Description }));
    expect(await compare(`--template ${saved}`)).toBe(text);
    expect(await asked()).toEqual([]);
  },
);

test("an account is spelt out where the environment is pinned: else, without AWS, it is unknown", async () => {
  const next = templateUsing("NEW");
  Object.assign(next.Resources.List.Properties.Environment.Variables, {
    ORDERS_TABLE: { Ref: "AWS::AccountId" },
  });
  writeFileSync(join(directory, "next.json"), JSON.stringify(next));
  expect(await compare()).toContain("OLD becomes <AWS::AccountId>");
  expect(await run(`compare pinned --app ${directory}`)).toContain(
    "OLD becomes 111111111111",
  );
});

test("a stack that was never deployed stops a deployment, or passes where no data is kept", async () => {
  const unknown = new Error(`Stack with id ${stackName} does not exist`);
  stackIs(Object.assign(unknown, { name: "ValidationError" }));
  expect(await compare()).toBe(`${notDeployed}
! Stack: a new one, with new and empty tables
${stop} first-deployment
exit code 1`);
  const text = await run(`compare loose --app ${directory}`);
  expect(text).toBe(`${notDeployed}\nNothing to accept\nexit code 0`);
});

test("nothing is compared or deployed while the stack can't be updated", async () => {
  const lines = [];
  for (const status of Object.values(StackStatus)) {
    stackIs(status);
    const text = await run(`${deployKept} --app ${directory}`);
    const [first = "", ...rest] = text.replace(` in ${status}:`, ":").split("\n");
    const outcome = first.replace("STACK ", "").replace(` ${place}`, "");
    lines.push(`${status}: ${outcome}, ${rest.at(-1)}`);
  }
  expect(
    lines.join("\n"),
  ).toBe(`CREATE_COMPLETE: compared with what is deployed, exit code 7
CREATE_FAILED: is: roll it back (infra/ON-CALL.md, A stuck rollback), exit code 2
CREATE_IN_PROGRESS: is: wait until that has ended, exit code 2
DELETE_COMPLETE: is: see its events in the CloudFormation console, exit code 2
DELETE_FAILED: is: delete it (infra/README.md, Delete a stack), exit code 2
DELETE_IN_PROGRESS: is: wait until that has ended, exit code 2
IMPORT_COMPLETE: compared with what is deployed, exit code 7
IMPORT_IN_PROGRESS: is: wait until that has ended, exit code 2
IMPORT_ROLLBACK_COMPLETE: compared with what is deployed, exit code 7
IMPORT_ROLLBACK_FAILED: is: see its events in the CloudFormation console, exit code 2
IMPORT_ROLLBACK_IN_PROGRESS: is: wait until that has ended, exit code 2
REVIEW_IN_PROGRESS: is not deployed, exit code 1
ROLLBACK_COMPLETE: is not deployed, exit code 1
ROLLBACK_FAILED: is: delete it (infra/README.md, Delete a stack), exit code 2
ROLLBACK_IN_PROGRESS: is: wait until that has ended, exit code 2
UPDATE_COMPLETE: compared with what is deployed, exit code 7
UPDATE_COMPLETE_CLEANUP_IN_PROGRESS: is: wait until that has ended, exit code 2
UPDATE_FAILED: is: roll it back (infra/ON-CALL.md, A stuck rollback), exit code 2
UPDATE_IN_PROGRESS: is: wait until that has ended, exit code 2
UPDATE_ROLLBACK_COMPLETE: compared with what is deployed, exit code 7
UPDATE_ROLLBACK_COMPLETE_CLEANUP_IN_PROGRESS: is: wait until that has ended, exit code 2
UPDATE_ROLLBACK_FAILED: is: roll it back (infra/ON-CALL.md, A stuck rollback), exit code 2
UPDATE_ROLLBACK_IN_PROGRESS: is: wait until that has ended, exit code 2`);
});

test("credentials of another account than the environment's are rejected", async () => {
  sts.on(GetCallerIdentityCommand).resolves({ Account: "999999999999" });
  expect(await run(`deploy pinned --app ${directory}`)).toBe(
    "pinned belongs to account 111111111111, but these credentials are for 999999999999: " +
      "assume a role in 111111111111 first\nexit code 2",
  );
  expect(await asked()).toEqual(["test eu-central-1 GetCallerIdentity"]);
});

test("wrong use, and a file that can't be compared, fail in one line before AWS is asked", async () => {
  const lines = `compare constructor: No environment is named constructor. Choose kept or loose or pinned.
compare kept --app missing: missing has no stack STACK: synthesise it first
compare kept --template README.md: README.md is not a template in JSON
compare kept --template package.json: package.json is not a template in JSON
compare kept --template infra: infra is not a template in JSON
compare kept --template missing: missing: no such file or directory
deploy kept --app . -c a=b: error: option '-c, --context <key=value>' cannot be used with option '--app <directory>'
deploy kept PetStoreOrders-production: error: too many arguments for 'deploy'. Expected 1 argument but got 2: kept, PetStoreOrders-production.
deploy kept --env loose: error: write deploy loose, without --env
diff --env kept: error: write diff kept, without --env
deploy kept --role-arn=other: error: unknown option '--role-arn=other'
compare kept --profile nobody: The AWS profile nobody does not exist or has no usable credentials \
(Could not load credentials from any providers). \
Sign in, or set AWS_PROFILE or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY`;
  vi.stubEnv("AWS_DEFAULT_REGION", undefined);
  const said = [];
  for (const line of lines.split("\n")) {
    const [words = ""] = line.split(": ");
    const text = await run(words);
    said.push(`${words}: ${text.replace("\nexit code 2", "")}`);
  }
  expect(said.join("\n")).toBe(lines);
  expect(await asked()).toEqual([]);
});

test("nothing is deployed while its changes are not accepted", async () => {
  expect(await run(`deploy kept --app ${directory}`)).toBe(await compare());
});

const decided =
  "--method change-set --rollback --no-hotswap --no-express --require-approval";

test("CDK works as the profile that was compared, and inherits none of its own settings", async () => {
  const foreign = {
    AMAZON_SESSION_TOKEN: "other",
    AWS_ENDPOINT_URL_S3: "http://127.0.0.1:9",
    AWS_PROFILE: "of-the-shell",
    AWS_SESSION_TOKEN: "of-the-shell",
    CDK_CONTEXT: "canary=false",
    CONTEXT_OVERFLOW_LOCATION_ENV: "other.json",
    CDK_HOTSWAP: "true",
    CDK_PROFILE: "other",
    CDKHOTSWAP: "true",
  };
  for (const [name, value] of Object.entries(foreign)) vi.stubEnv(name, value);
  await run(`${deployKept} --app ${directory} --profile other`);
  expect(await asked()).toEqual(questions("other", "eu-central-1"));
  const settings = {
    AWS_ACCESS_KEY_ID: "other",
    AWS_ENDPOINT_URL_S3: "http://127.0.0.1:9",
    AWS_PROFILE: "other",
    AWS_REGION: "eu-central-1",
    AWS_SECRET_ACCESS_KEY: "other",
    AWS_SESSION_TOKEN: "other",
  };
  expect(inherited()).toEqual(
    expect.arrayContaining(Object.entries(settings).map((pair) => pair.join("="))),
  );
  expect(inherited().join()).not.toMatch(/CDK|CONTEXT|AMAZON/);
  // Its credentials have no token, and the shell's would not fit them.
  await run(`${deployKept} --app ${directory} --profile lasting`);
  expect(inherited().join()).not.toContain("AWS_SESSION");
  process.chdir(directory);
  await run("diff kept --template saved.json");
  process.chdir(root);
  expect(inherited()).toEqual([`home: .aws .docker in ${process.cwd()}`]);
});

test.each(["missing", "CREATING"] as const)(
  "nothing is deployed while a table of the stack is %s",
  async (status) => {
    const describe = dynamoDb.on(DescribeTableCommand);
    if (status === "missing")
      describe.rejects(new ResourceNotFoundException({ message: "", $metadata: {} }));
    else describe.resolves({ Table: { TableStatus: status } });
    expect(await run(`${deployKept} --app ${directory} --revert-drift`)).toBe(
      `Table Orders-1 is ${status}: restore it first (infra/ON-CALL.md, A deleted table)\nexit code 2`,
    );
  },
);

test("a refusal by CloudFormation ends the command before synthesis", async () => {
  stackIs(Object.assign(new Error("Role x does not exist"), { name: "AccessDenied" }));
  expect(await run("compare kept")).toBe(
    "AWS denied access: Role x does not exist\nexit code 2",
  );
});

test.each([
  [
    "CDK deploys exactly what was compared",
    `${deployKept} --app ${relative(".", directory)} --require-approval never --outputs-file ./out.json --revert-drift`,
    `cdk deploy STACK --exclusively --app APP ${decided} never --outputs-file out.json --revert-drift
exit code 7`,
  ],
  [
    "without --app, the app is synthesised with the given context",
    `${deployKept} -c canary=false --context 'a=b c'`,
    `cdk synth STACK --quiet --output NEW_FOLDER --context canary=false --context a=b c
cdk deploy STACK --exclusively --app NEW_FOLDER ${decided} broadening
exit code 7`,
  ],
  [
    "a saved template is compared with the given context, too, and what it differs in accepted",
    `compare kept --template ${saved} --accept ${digest} -c a=b`,
    `Accepted
cdk synth STACK --quiet --output NEW_FOLDER --context a=b
exit code 0`,
  ],
])("%s", async (_, words, end) => {
  vi.stubEnv("FAKE_DOES", `[ $1 = synth ] || exit 7; /bin/cp ${directory}/*.json "$5"`);
  writeFileSync(saved, JSON.stringify(templateUsing("OLD")));
  const text = await run(words);
  expect(text.slice(-end.length - 1)).toBe(`\n${end}`);
});

test.each(["exit 1", "kill $$"])("a synthesis that ends by %s fails", async (end) => {
  vi.stubEnv("FAKE_DOES", end);
  expect(await run("deploy kept")).toBe(`Synthesis failed
cdk synth STACK --quiet --output NEW_FOLDER
exit code 2`);
});

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
