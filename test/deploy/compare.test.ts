import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { GetCallerIdentityCommand } from "@aws-sdk/client-sts";
import { expect, test, vi } from "vitest";
import {
  account,
  cloudFormation,
  deployed,
  environment,
  noStack,
  region,
  stackName,
  sts,
  useApp,
  useAws,
  using,
} from "./commands.ts";
import { stoppingChanges } from "./stopping/stopping-changes.ts";
import { deployedTemplate } from "./templates.ts";

useAws();
const app = useApp();

const compare = (...words: string[]) =>
  app.run("compare", environment.name, "--app", app.directory, ...words);

const where = `in account ${account}, region ${region}`;
const inUse = "orders-table-in-use  OLD becomes NEW";
const protection = "termination-protection  the stack can then be deleted";

/** Saves a template, and returns the options that compare with it. */
async function saved(template: object): Promise<string[]> {
  const file = join(app.directory, "saved.json");
  await writeFile(file, typeof template === "string" ? template : JSON.stringify(template));
  return ["--template", file];
}

test("each finding is a line, before the words that accept them all", async () => {
  expect(await compare()).toEqual({
    exitCode: 1,
    output: [
      `${stackName} compared with what is deployed ${where}: 2 findings`,
      `STOP  ${inUse}`,
      `STOP  ${protection}`,
      'If that is meant: --accept "orders-table-in-use termination-protection"',
    ],
  });
});

test.each([
  ["in one word", ["--accept", "orders-table-in-use  termination-protection"]],
  ["on lines of their own", ["--accept", "orders-table-in-use\ntermination-protection\n"]],
  ["one by one", ["--accept", "orders-table-in-use", "--accept", "termination-protection"]],
])("findings pass once they are accepted %s", async (_, accept) => {
  const { exitCode, output } = await compare(...accept);
  expect([exitCode, output.slice(1)]).toEqual([
    0,
    [`accepted  ${inUse}`, `accepted  ${protection}`],
  ]);
});

test("a name that no finding has only gets a remark", async () => {
  await app.synthesised(using("OLD"));
  const { exitCode, output } = await compare("--accept", "termination-protection tls");
  expect([exitCode, output.at(-1)]).toEqual([0, "Nothing to accept by the name tls"]);
});

test.each([
  ["tls\u001b[2J", "tls\\u{1b}[2J"],
  ["tls\n```\n<!--", "```"],
])(
  "a name that no finding can have is rejected before anything is asked: %j",
  async (accept, told) => {
    expect(await compare("--accept", accept)).toEqual({
      exitCode: 2,
      output: [`No finding can be called ${told}`],
    });
    expect(cloudFormation.calls()).toEqual([]);
  },
);

test.each(stoppingChanges)(
  "a deployment stops until it is accepted when $title",
  async ({ change }) => {
    const next = structuredClone(deployedTemplate);
    change(next);
    await app.synthesised(next);
    const template = await saved(deployedTemplate);
    const { exitCode, output } = await compare(...template);
    const [, accept = ""] = /--accept "(.*)"$/.exec(String(output.at(-1))) ?? [];
    expect(exitCode).toBe(1);
    expect((await compare(...template, "--accept", accept)).exitCode).toBe(0);
  },
);

test("only the environment's own stack is asked about", async () => {
  await compare();
  for (const { args } of cloudFormation.calls()) {
    expect(args[0].input).toEqual({ StackName: stackName });
  }
});

test("a stack whose last update was rolled back is compared", async () => {
  deployed("UPDATE_ROLLBACK_COMPLETE");
  expect((await compare()).exitCode).toBe(1);
});

test("a saved template is compared without asking AWS", async () => {
  const [option = "", file = ""] = await saved(using("OLD"));
  const { exitCode, output } = await compare(option, file);
  expect([exitCode, output.slice(0, 2)]).toEqual([
    1,
    [`${stackName} compared with ${file}: 1 finding`, `STOP  ${inUse}`],
  ]);
  expect([...cloudFormation.calls(), ...sts.calls()]).toEqual([]);
});

test.each([
  [
    "Pet store orders service, loose",
    /saved\.json is of another environment: ".*, loose", not ".*, kept"$/,
  ],
  [undefined, /saved\.json is of another environment: no description, not ".*, kept"$/],
])("a saved template of another environment is one line: %s", async (description, message) => {
  const template = await saved({ ...using("OLD"), Description: description });
  expect(await compare(...template)).toEqual({
    exitCode: 2,
    output: [expect.stringMatching(message)],
  });
});

// A change set that was made but never run leaves the first of them.
const notDeployed = ["REVIEW_IN_PROGRESS" as const, "ROLLBACK_COMPLETE" as const, noStack];

test.each(notDeployed)(
  "no stack stops a deployment where one should hold data: %s",
  async (status) => {
    deployed(status);
    expect(await compare()).toEqual({
      exitCode: 1,
      output: [
        `${stackName} is not deployed ${where}: 1 finding`,
        "STOP  first-deployment  its tables will be new and empty",
        'If that is meant: --accept "first-deployment"',
      ],
    });
  },
);

test("a first deployment passes once it is accepted", async () => {
  deployed(noStack);
  expect((await compare("--accept", "first-deployment")).exitCode).toBe(0);
});

test("no stack stops nothing where no data is kept", async () => {
  deployed(noStack);
  const output = [`${stackName} is not deployed ${where}: 0 findings`];
  expect(await app.run("compare", "loose", "--app", app.directory)).toEqual({
    exitCode: 0,
    output,
  });
});

test("credentials of an account that is not pinned end the command before it asks", async () => {
  sts.on(GetCallerIdentityCommand).resolves({ Account: "999999999999" });
  expect(await app.run("deploy", "pinned", "--app", app.directory)).toEqual({
    exitCode: 2,
    output: [
      "pinned belongs to account 111111111111, but these credentials are of account 999999999999: " +
        "assume a role in the target account first",
    ],
  });
  expect(cloudFormation.calls()).toEqual([]);
});

test("a stack that is pinned to a region is compared there, wherever the caller is", async () => {
  vi.stubEnv("AWS_REGION", "eu-west-3");
  await app.run("compare", "pinned", "--app", app.directory);
  const clients = [...cloudFormation.calls(), ...sts.calls()].map(({ thisValue }) => thisValue);
  const regions = await Promise.all(clients.map(({ config }) => config.region()));
  expect(new Set(regions)).toEqual(new Set([region]));
});

test.each<[string, string[], RegExp]>([
  ["an unknown environment", ["compare", "nowhere"], /^error: 'nowhere' is invalid.*kept, loose/],
  ["no synthesised app", ["compare", "kept", "--app", "missing"], /^missing has no stack/],
  [
    "a template that isn't JSON",
    ["compare", "kept", "--template", "package.json"],
    /not a template/,
  ],
  [
    "no such template",
    ["compare", "kept", "--template", "missing"],
    /^missing: no such file or directory$/,
  ],
  [
    "a context for an app that is synthesised already",
    ["deploy", "kept", "--app", ".", "-c", "canary=false"],
    /'-c.*' cannot be used with option '--app/,
  ],
])("%s is one line, exit code 2, before AWS is asked", async (_, words, message) => {
  const output = [expect.stringMatching(message)];
  expect(await app.run(...words)).toEqual({ exitCode: 2, output });
  expect(sts.calls()).toEqual([]);
});

test("what CloudFormation refuses is one line, before anything is synthesised", async () => {
  deployed(Object.assign(new Error("You may not"), { name: "AccessDenied" }));
  const output = ["AWS denied access: You may not"];
  expect(await app.run("compare", "kept")).toEqual({ exitCode: 2, output });
});
