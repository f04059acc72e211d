import { execFile } from "node:child_process";
import { symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { GetTemplateCommand } from "@aws-sdk/client-cloudformation";
import {
  DescribeTableCommand,
  ResourceNotFoundException,
  type TableStatus,
} from "@aws-sdk/client-dynamodb";
import { GetCallerIdentityCommand } from "@aws-sdk/client-sts";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { environments } from "../../infra/environments.ts";
import { readAssembly } from "../helpers/read-assembly.ts";
import {
  cloudFormation,
  directory,
  dynamoDb,
  run,
  stackIs,
  stackName,
  sts,
  synthesise,
  templateUsing,
  useCommands,
} from "./command.ts";

/** What the tests' own commands find on the path. */
const path = process.env["PATH"];
useCommands();

const compare = (...options: string[]) => run("compare", "kept", "--app", directory, ...options);

const table = "List.Environment.Variables.ORDERS_TABLE=NEW";
const protection = "termination-protection";
const tableMoves = `${table}  OLD becomes NEW`;
const protectionGoes = `${protection}  the stack can then be deleted`;

/** What a comparison asks AWS, with which key, and where. */
const askedWith = (key: string, region = "eu-central-1") =>
  [
    "GetCallerIdentity",
    `DescribeStacks ${stackName}`,
    `GetTemplate ${stackName}`,
    "DescribeTable Orders-1",
  ].map((question) => `${key} ${region} ${question}`);
const asked = askedWith("test");
const [identity] = asked;
const askedForStack = asked.slice(0, 2);

const compared = (findings: string, region = "eu-central-1") =>
  `${stackName} compared with what is deployed in account 111111111111, region ${region}: ${findings}`;

describe("a comparison", () => {
  test.each(["UPDATE_COMPLETE", "UPDATE_ROLLBACK_COMPLETE"] as const)(
    "of a stack that is %s prints each finding, and the option that accepts them all",
    async (status) => {
      stackIs(status);
      expect(await compare()).toEqual([
        compared("2 findings"),
        `STOP  ${tableMoves}`,
        `STOP  ${protectionGoes}`,
        `To accept: --accept "${table} ${protection}"`,
        ...asked,
        "exit code 1",
      ]);
    },
  );

  test("fails when a finding is not accepted", async () => {
    expect(await compare("--accept", table)).toEqual([
      compared("2 findings"),
      `accepted  ${tableMoves}`,
      `STOP  ${protectionGoes}`,
      `To accept: --accept "${protection}"`,
      ...asked,
      "exit code 1",
    ]);
  });

  test.each([
    ["in one option", ["--accept", `${table}  ${protection}`]],
    ["on lines of their own", ["--accept", `${table}\n${protection}\n`]],
    ["one by one", ["--accept", table, "--accept", protection]],
  ])("passes when its findings are accepted %s", async (_, accept) => {
    expect(await compare(...accept)).toEqual([
      compared("2 findings"),
      `accepted  ${tableMoves}`,
      `accepted  ${protectionGoes}`,
      ...asked,
      "exit code 0",
    ]);
  });

  test("only prints a remark about an accepted name that no finding has", async () => {
    synthesise(templateUsing("OLD"));
    expect(await compare("--accept", `${protection} tls`)).toEqual([
      compared("1 finding"),
      `accepted  ${protectionGoes}`,
      "No finding is named tls",
      ...asked,
      "exit code 0",
    ]);
  });

  test("fails in one line when AWS has no template of the stack", async () => {
    cloudFormation.on(GetTemplateCommand).resolves({});
    const line = `Stack ${stackName} has no template`;
    expect(await compare()).toEqual([line, ...asked.slice(0, 3), "exit code 2"]);
  });
});

describe("a comparison with a saved template", () => {
  /** Compares with a template whose description is this. */
  async function compareSaved(Description: string | undefined) {
    const file = join(directory, "saved.json");
    await writeFile(file, JSON.stringify({ ...templateUsing("OLD"), Description }));
    return compare("--template", file);
  }

  test("asks AWS nothing", async () => {
    expect(await compareSaved("Pet store orders service, kept")).toEqual([
      `${stackName} compared with APP/saved.json: 1 finding`,
      `STOP  ${tableMoves}`,
      `To accept: --accept "${table}"`,
      "exit code 1",
    ]);
  });

  test.each([
    ["another environment's", "Pet store orders service, loose"],
    ["no description", undefined],
  ])("rejects a template with %s description", async (_, description) => {
    const actual = `${description ?? "no description"}, not Pet store orders service, kept`;
    expect(await compareSaved(description)).toEqual([
      `APP/saved.json belongs to another environment: ${actual}`,
      "exit code 2",
    ]);
  });
});

const absent = new Error(`Stack with id ${stackName} does not exist`);
const firstDeployment = "first-deployment  its tables will be new and empty";

describe("a first deployment", () => {
  const header = (findings: string) =>
    `${stackName} is not deployed in account 111111111111, region eu-central-1: ${findings}`;

  test.each([
    ["there is no stack", absent],
    ["a change set was made but never run", "REVIEW_IN_PROGRESS" as const],
    ["the one before failed", "ROLLBACK_COMPLETE" as const],
  ])("stops when the stack should hold data and %s", async (_, status) => {
    stackIs(status);
    expect(await compare()).toEqual([
      header("1 finding"),
      `STOP  ${firstDeployment}`,
      'To accept: --accept "first-deployment"',
      ...askedForStack,
      "exit code 1",
    ]);
  });

  test("passes once it is accepted, or where no data is kept", async () => {
    stackIs(absent);
    expect(await compare("--accept", "first-deployment")).toEqual([
      header("1 finding"),
      `accepted  ${firstDeployment}`,
      ...askedForStack,
      "exit code 0",
    ]);
    expect(await run("compare", "loose", "--app", directory)).toEqual([
      header("0 findings"),
      ...askedForStack,
      "exit code 0",
    ]);
  });
});

test("credentials of another account than the environment's are rejected", async () => {
  sts.on(GetCallerIdentityCommand).resolves({ Account: "999999999999" });
  expect(await run("deploy", "pinned", "--app", directory)).toEqual([
    "pinned belongs to account 111111111111, but these credentials are for 999999999999: " +
      "assume a role in 111111111111 first",
    identity,
    "exit code 2",
  ]);
});

test.each([
  ["the caller's region", "kept", "eu-west-3"],
  ["the region that the environment is pinned to", "pinned", "eu-central-1"],
])("a comparison reads what is deployed in %s", async (_, environment, region) => {
  vi.stubEnv("AWS_REGION", "eu-west-3");
  const lines = await run("compare", environment, "--app", directory);
  expect(lines[0]).toBe(compared("2 findings", region));
  expect(lines.slice(-5, -1)).toEqual(askedWith("test", region));
});

test.each<[words: string, message: string | RegExp]>([
  ["compare nowhere", /^error: 'nowhere' is invalid.* Choose from kept, loose, pinned\.$/],
  [
    "compare kept --app missing",
    "missing has no stack PetStoreOrders-everything: synthesise it first",
  ],
  ["compare kept --template README.md", "README.md is not a template in JSON"],
  ["compare kept --template package.json", "package.json is not a template in JSON"],
  ["compare kept --template infra", "infra is not a template in JSON"],
  ["compare kept --template missing", "missing: no such file or directory"],
  ["deploy kept --app . -c canary=false", /'-c.*' cannot be used with option '--app/],
  ["deploy kept PetStoreOrders-production", /^error: too many arguments/],
  ["deploy kept --all", "error: unknown option '--all'"],
  ["deploy kept --role-arn=other", "error: unknown option '--role-arn=other'"],
  ["deploy kept --acept=tls", /^error: unknown option '--acept=tls'/],
  ["compare kept --accept tls\u001b[2J", "No finding can be named tls\\u{1b}[2J"],
  ["compare kept --accept tls\n```\n<!--", "No finding can be named ```"],
])("the command line %j fails in one line, before AWS is asked", async (words, message) => {
  const line = typeof message === "string" ? message : expect.stringMatching(message);
  expect(await run(...words.split(" "))).toEqual([line, "exit code 2"]);
});

const accepted = ["--accept", `${table} ${protection}`];

/** Deploys the synthesised app, with its findings accepted. */
const deploy = (...options: string[]) =>
  run("deploy", "kept", ...accepted, "--app", directory, ...options);

test("nothing is deployed while a finding is not accepted", async () => {
  const lines = await run("deploy", "kept", "--app", directory);
  expect(lines.slice(-5)).toEqual([...asked, "exit code 1"]);
});

test("CDK deploys exactly what was compared, as the given profile", async () => {
  vi.stubEnv("AWS_PROFILE", "of-the-shell");
  const approval = ["--require-approval", "never", "--outputs-file", "out.json"];
  const options = ["--profile", "other", ...approval];
  expect((await deploy(...options, "--revert-drift")).slice(-6)).toEqual([
    ...askedWith("other"),
    `cdk deploy ${stackName} --exclusively ${options.join(" ")} --revert-drift --app APP`,
    "exit code 7",
  ]);
});

test("a deployment fails when CDK is killed", async () => {
  vi.stubEnv("CDK_DOES", "kill $$");
  const call = `cdk deploy ${stackName} --exclusively --app APP`;
  expect((await deploy()).slice(-2)).toEqual([call, "exit code 1"]);
});

test.each<[TableStatus | "missing"]>([["missing"], ["CREATING"]])(
  "nothing is deployed while a table of the stack is %s",
  async (status) => {
    const describe = dynamoDb.on(DescribeTableCommand);
    if (status === "missing")
      describe.rejects(new ResourceNotFoundException({ message: "", $metadata: {} }));
    else describe.resolves({ Table: { TableStatus: status } });
    expect(await deploy("--revert-drift")).toEqual([
      `Table Orders-1 is ${status}: restore it first (infra/ON-CALL.md, A deleted table)`,
      ...asked,
      "exit code 2",
    ]);
  },
);

test("a refusal by CloudFormation ends the command before synthesis", async () => {
  stackIs(Object.assign(new Error("You may not"), { name: "AccessDenied" }));
  expect(await run("compare", "kept")).toEqual([
    "AWS denied access: You may not",
    ...askedForStack,
    "exit code 2",
  ]);
});

describe("without --app", () => {
  const synthesis = "cdk synth --quiet --output cdk.out";

  test("the app is synthesised with the given context", async () => {
    const home = process.cwd();
    process.chdir(directory);
    onTestFinished(() => process.chdir(home));
    await symlink(".", "cdk.out");
    vi.stubEnv("CDK_DOES", '[ "$1" = synth ] || exit 7');
    const context = ["-c", "canary=false", "--context", "a=b c"];
    expect((await run("deploy", "kept", ...accepted, ...context)).slice(-3)).toEqual([
      `${synthesis} --context canary=false --context a=b c`,
      `cdk deploy ${stackName} --exclusively --app cdk.out`,
      "exit code 7",
    ]);
  });

  test("a failed synthesis ends the command with its error", async () => {
    vi.stubEnv("CDK_DOES", "echo The reason >&2; exit 1");
    expect(await run("deploy", "kept")).toEqual([
      "Synthesis failed: The reason",
      ...asked,
      synthesis,
      "exit code 2",
    ]);
  });
});

test.each([
  [
    "deploy kept --app APP",
    "The packages are not all installed (spawn cdk ENOENT). Run: npm ci --include=dev",
  ],
  ["compare kept", "Synthesis failed: spawn cdk ENOENT"],
])("%s fails in one line when CDK can't be started", async (words, message) => {
  vi.stubEnv("PATH", "/nowhere");
  const given = words.split(" ").map((word) => word.replace("APP", directory));
  expect(await run(...given, ...accepted)).toEqual(
    expect.arrayContaining([message, "exit code 2"]),
  );
});

test.each([
  ["drift kept", ["cdk drift STACK --fail"]],
  ["diff kept --app a --security-only", ["cdk diff STACK --exclusively --app a --security-only"]],
  [
    "diff kept --template=saved.json",
    [
      "Compared with a saved template, not with what is deployed.",
      "cdk diff STACK --exclusively --template=saved.json",
    ],
  ],
])("%s has CDK look at the stack, and ends with its exit code", async (words, lines) => {
  const expected = lines.map((line) => line.replace("STACK", stackName));
  expect(await run(...words.split(" "))).toEqual([...expected, "exit code 7"]);
});

/** Runs the command itself. */
function runCommand(...words: string[]) {
  const command = fileURLToPath(new URL("../../infra/deploy/deploy.ts", import.meta.url));
  return promisify(execFile)(process.execPath, [command, ...words]);
}

test("npm run diff ends with the exit code of cdk diff, and shows what it prints", async () => {
  vi.stubEnv("CDK_DOES", 'echo "cdk $*"; exit 7');
  const stdout = `cdk diff ${environments.staging.stackName} --exclusively\n`;
  await expect(runCommand("diff", "staging")).rejects.toMatchObject({ code: 7, stdout });
});

test("cdk diff accepts a saved template", async () => {
  const assembly = await readAssembly();
  const { name, stackName } = environments.staging;
  const template = join(assembly.directory, `${stackName}.template.json`);
  vi.stubEnv("PATH", path);
  const { stdout, stderr } = await runCommand(
    "diff",
    name,
    "--app",
    assembly.directory,
    "--template",
    template,
  );
  expect(stdout + stderr).toContain("There were no differences");
});
