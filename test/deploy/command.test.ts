import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { runDeploy } from "../../infra/deploy/command.ts";
import { type Environment, environments } from "../../infra/environments.ts";
import { watched } from "../helpers/watched.ts";

const { stackName } = environments.staging;

const using = (table: string) => ({
  Resources: {
    List: { Type: "AWS::Lambda::Function", Properties: { Environment: { Variables: { ORDERS_TABLE: table } } } },
  },
});

let app: string;
let saved: string;
beforeAll(async () => {
  app = await mkdtemp(join(tmpdir(), "pet-store-orders-deploy-"));
  saved = join(app, "saved.json");
  const artifact = {
    type: "aws:cloudformation:stack",
    environment: "aws://unknown-account/unknown-region",
    properties: { templateFile: "next.json", terminationProtection: false },
  };
  await writeFile(
    join(app, "manifest.json"),
    JSON.stringify({ version: "55.0.0", artifacts: { [stackName]: artifact } }),
  );
  await writeFile(join(app, "next.json"), JSON.stringify(using("NEW")));
  // A stand-in for CDK.
  await writeFile(join(app, "cdk"), `#!/bin/sh\necho "cdk $*" >> "$CDK_CALLS"; exit 7\n`, { mode: 0o755 });
  await writeFile(saved, JSON.stringify(using("OLD")));
  const keys = ["aws_access_key_id", "aws_secret_access_key"].map((name) => `${name} = other\n`);
  await writeFile(join(app, "credentials"), `[other]\n${keys.join("")}`);
  return () => rm(app, { recursive: true });
});

/** Serves CloudFormation's API with a stack in this state; notes what it is asked, by whom and in which region. */
async function cloudFormation(status: string) {
  const asked: string[] = [];
  const askedBy = new Set<string | undefined>();
  const server = createServer(async (request, response) => {
    const body = await text(request);
    if (request.headers["x-amz-target"]) {
      const { TableName } = JSON.parse(body);
      if (TableName === "there") response.end('{"Table":{}}');
      else response.writeHead(400).end('{"__type":"com.amazonaws.dynamodb.v20120810#ResourceNotFoundException"}');
      return;
    }
    const form = new URLSearchParams(body);
    asked.push(`${form.get("Action")} ${form.get("StackName")}`);
    askedBy.add(/Credential=(.*?)\/cloudformation/.exec(request.headers.authorization ?? "")?.[1]);
    const result = {
      DescribeStacks: `<Stacks><member><StackName>x</StackName><CreationTime>2026-11-20T08:00:00Z</CreationTime>
        <EnableTerminationProtection>true</EnableTerminationProtection><StackStatus>${status}</StackStatus></member></Stacks>`,
      GetTemplate: `<TemplateBody>${JSON.stringify(using("OLD"))}</TemplateBody>`,
    }[form.get("Action") ?? ""];
    const gone = `<Error><Code>ValidationError</Code><Message>Stack with id x does not exist</Message></Error>`;
    const action = `${form.get("Action")}Result`;
    if (status === "DENIED" || status === "GONE" || result === undefined) {
      response.statusCode = status === "GONE" ? 400 : 403;
      const denied = "<Error><Code>AccessDenied</Code><Message>You may not</Message></Error>";
      response.end(`<ErrorResponse>${status === "GONE" ? gone : denied}</ErrorResponse>`);
    } else response.end(`<Response><${action}>${result}</${action}></Response>`);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const address = server.address();
  return { asked, askedBy, endpoint: `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}` };
}

/** Runs a command with the stack in this state, and gives what it and the stand-in for CDK print. */
async function run(status: string, ...words: string[]) {
  const { asked, askedBy, endpoint } = await cloudFormation(status);
  const calls = join(app, "cdk.calls");
  await writeFile(calls, "");
  const env = {
    PATH: `${app}:${process.env["PATH"]}`,
    CDK_CALLS: calls,
    AWS_ENDPOINT_URL_CLOUDFORMATION: endpoint,
    AWS_ENDPOINT_URL_DYNAMODB: endpoint,
    AWS_DEFAULT_REGION: "eu-central-1",
    AWS_REGION: undefined,
    AWS_PROFILE: undefined,
    AWS_SHARED_CREDENTIALS_FILE: join(app, "credentials"),
    AWS_ACCESS_KEY_ID: "test",
    AWS_SECRET_ACCESS_KEY: "test",
    AWS_MAX_ATTEMPTS: "1",
  };
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  const complain = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  const { printed, exitCode } = await watched(() => runDeploy(words)).finally(() => vi.unstubAllEnvs());
  const complaints = complain.mock.calls.map(([text]) => String(text).trim());
  complain.mockRestore();
  const ofCdk = (await readFile(calls, "utf8")).split("\n").filter(Boolean);
  return { exitCode, output: [...printed, ...complaints, ...ofCdk], asked, askedBy: [...askedBy] };
}

const inUse = "orders-table-in-use  ORDERS_TABLE: OLD becomes NEW";
const protection = "termination-protection  the stack can then be deleted";

test("each finding is a line, stops the deployment before CDK starts, and passes when it is accepted by name", async () => {
  for (const verb of ["compare", "deploy"]) {
    const { exitCode, output, asked } = await run("UPDATE_COMPLETE", verb, "staging", "--app", app, "--accept", "tls");
    expect([exitCode, output]).toEqual([
      1,
      [
        `${stackName}, compared with what is deployed: 2 findings`,
        `STOP  ${inUse}`,
        `STOP  ${protection}`,
        'If that is meant: --accept "orders-table-in-use termination-protection"',
        "Nothing to accept by the name tls",
      ],
    ]);
    expect(asked).toEqual([`DescribeStacks ${stackName}`, `GetTemplate ${stackName}`]);
  }
  const accept = ["--accept", "orders-table-in-use  termination-protection"];
  expect(await run("UPDATE_COMPLETE", "compare", "staging", "--app", app, ...accept)).toMatchObject({
    exitCode: 0,
    output: [expect.any(String), `accepted  ${inUse}`, `accepted  ${protection}`],
  });
});

test("a table to adopt must exist, or CloudFormation would make an empty one under the misspelt name", async () => {
  const adopting = (TableName: string) =>
    JSON.stringify({ Resources: { Restored: { Type: "AWS::DynamoDB::Table", Properties: { TableName } } } });
  onTestFinished(() => writeFile(join(app, "next.json"), JSON.stringify(using("NEW"))));
  await writeFile(join(app, "next.json"), adopting("there"));
  expect((await run("GONE", "compare", "staging", "--app", app)).exitCode).toBe(0);
  await writeFile(join(app, "next.json"), adopting("misspelt"));
  const { exitCode, output } = await run("GONE", "deploy", "staging", "--app", app);
  expect([exitCode, output]).toEqual([2, ["There is no table misspelt: the stack would make an empty one"]]);
});

test("a saved template is compared without asking AWS", async () => {
  const { exitCode, output, asked } = await run("DENIED", "compare", "staging", "--app", app, "--template", saved);
  expect([exitCode, output[1], asked]).toEqual([1, `STOP  ${inUse}`, []]);
});

test.each(["GONE", "ROLLBACK_COMPLETE"])("a first deployment has nothing to compare with: %s", async (status) => {
  const { exitCode, output } = await run(status, "compare", "staging", "--app", app);
  expect([exitCode, output]).toEqual([0, [`${stackName} is not deployed yet: nothing to compare with`]]);
});

test("what can't be compared is one line, and exits with 2", async () => {
  const broken = join(app, "broken.json");
  await writeFile(broken, "# no template");
  const wrong: [string[], RegExp][] = [
    [["compare", "nowhere"], /^error: 'nowhere' is invalid.*staging, production/],
    [["compare", "production", "--app", app], /has no stack/],
    [["compare", "staging", "--app", app, "--template", broken], /broken.json is not a template in JSON/],
    [["compare", "staging", "--app", app], /You may not/],
    [["deploy", "staging", "--app", app, "-c", "canary=false"], /'-c.*' cannot be used with option '--app/],
  ];
  for (const [words, message] of wrong) {
    const { exitCode, output } = await run("DENIED", ...words);
    expect([words, exitCode, output]).toEqual([words, 2, [expect.stringMatching(message)]]);
  }
});

test("what is accepted is deployed: the assembly that was compared, the exact stack alone, tables by their names", async () => {
  const accept = ["--accept", "orders-table-in-use", "--accept", "termination-protection"];
  const options = ["--require-approval", "never"];
  const { exitCode, output } = await run("UPDATE_COMPLETE", "deploy", "staging", ...accept, "--app", app, ...options);
  const words = `deploy ${stackName} --exclusively --import-existing-resources --require-approval never --app ${app}`;
  expect([exitCode, output.at(-1)]).toEqual([7, `cdk ${words}`]);
});

test("what is compared is in the account and region that CDK deploys to", async () => {
  const words = ["--app", app, "--profile", "other", "--accept", "orders-table-in-use termination-protection"];
  const { output, askedBy } = await run("UPDATE_COMPLETE", "deploy", "staging", ...words);
  const { account }: Environment = environments.staging;
  const region = account?.region ?? "eu-central-1";
  expect(askedBy).toEqual([expect.stringMatching(new RegExp(`^other/\\d+/${region}$`))]);
  expect(output).toContainEqual(expect.stringMatching(/^cdk deploy .* --profile other /));
});

test("without an assembly, one is synthesised with the context given, compared and deployed", async () => {
  const { exitCode, output } = await run("GONE", "deploy", "staging", "-c", "canary=false", "--context", "a=b c");
  expect([exitCode, output]).toEqual([
    2,
    ["cdk synth --quiet --output cdk.out --context canary=false --context a=b c"],
  ]);
});

test("a diff is the exact stack's alone, and says when it is not with what is deployed", async () => {
  const said = "Compared with a saved template, not with what is deployed.";
  const diff = `cdk diff ${stackName} --exclusively`;
  expect((await run("GONE", "diff", "staging", "--app", app)).output).toEqual([`${diff} --app ${app}`]);
  const { exitCode, output } = await run("GONE", "diff", "staging", "--template", saved);
  expect([exitCode, output]).toEqual([7, [said, `${diff} --template ${saved}`]]);
});
