import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { GetTemplateCommand } from "@aws-sdk/client-cloudformation";
import { GetCallerIdentityCommand } from "@aws-sdk/client-sts";
import { describe, expect, test, vi } from "vitest";
import { useApp } from "./app.ts";
import {
  account,
  cloudFormation,
  describingFails,
  region,
  stackDoesNotExist,
  stackHas,
  sts,
  useAws,
} from "./aws.ts";
import { environment, stackName, templateUsing } from "./environments.ts";
import { stoppingChanges } from "./stopping/stopping-changes.ts";
import { deployedTemplate } from "./templates.ts";

useAws();
const app = useApp();

const compare = (...words: string[]) =>
  app.run("compare", environment.name, "--app", app.directory, ...words);

const where = `in account ${account}, region ${region}`;
const table = "List.Environment.Variables.ORDERS_TABLE";
const tableInUse = `${table}=NEW  OLD becomes NEW`;
const protection = "termination-protection  the stack can then be deleted";

/** Saves a template, and returns the options that compare with it. */
async function saved(template: object): Promise<string[]> {
  const file = join(app.directory, "saved.json");
  await writeFile(file, JSON.stringify(template));
  return ["--template", file];
}

describe("a comparison", () => {
  test("prints each finding on a line of its own", async () => {
    const { output } = await compare();
    expect(output.slice(0, -1)).toEqual([
      `${stackName} compared with what is deployed ${where}: 2 findings`,
      `STOP  ${tableInUse}`,
      `STOP  ${protection}`,
    ]);
  });

  test("prints the option that accepts every finding on the last line", async () => {
    const { output } = await compare();
    expect(output.at(-1)).toBe(`To accept: --accept "${table}=NEW termination-protection"`);
  });

  test("fails when a finding is not accepted", async () => {
    const { exitCode } = await compare("--accept", `${table}=NEW`);
    expect(exitCode).toBe(1);
  });

  test.each([
    ["in one option", ["--accept", `${table}=NEW  termination-protection`]],
    ["on lines of their own", ["--accept", `${table}=NEW\ntermination-protection\n`]],
    ["one by one", ["--accept", `${table}=NEW`, "--accept", "termination-protection"]],
  ])("passes when its findings are accepted %s", async (_, accept) => {
    const { exitCode, output } = await compare(...accept);
    expect(exitCode).toBe(0);
    expect(output.slice(1)).toEqual([`accepted  ${tableInUse}`, `accepted  ${protection}`]);
  });

  test("only prints a remark about an accepted name that no finding has", async () => {
    await app.synthesise(templateUsing("OLD"));
    const { exitCode, output } = await compare("--accept", "termination-protection tls");
    expect(exitCode).toBe(0);
    expect(output.at(-1)).toBe("No finding is named tls");
  });

  const impossibleNames = ["tls\u001b[2J", "tls\n```\n<!--"];
  test.each(impossibleNames)(
    "rejects a name that no finding can have before it asks AWS: %j",
    async (name) => {
      expect(await compare("--accept", name)).toMatchObject({ exitCode: 2 });
      expect([...cloudFormation.calls(), ...sts.calls()]).toEqual([]);
    },
  );

  test("prints a rejected name without control characters", async () => {
    const { output } = await compare("--accept", "tls\u001b[2J");
    expect(output).toEqual(["No finding can be named tls\\u{1b}[2J"]);
  });

  for (const { title, change } of stoppingChanges) {
    test(`passes with the names that it prints when ${title}`, async () => {
      const next = structuredClone(deployedTemplate);
      change(next);
      await app.synthesise(next);
      const template = await saved(deployedTemplate);
      const { exitCode, output } = await compare(...template);
      const names = /--accept "(.*)"$/.exec(String(output.at(-1)))?.[1];
      expect(exitCode).toBe(1);
      expect(await compare(...template, "--accept", String(names))).toMatchObject({ exitCode: 0 });
    });
  }

  test("asks about the environment's own stack only", async () => {
    await compare();
    const asked = { StackName: stackName };
    expect(cloudFormation.calls().map(({ args }) => args[0].input)).toEqual([asked, asked]);
  });

  test("covers a stack whose last update was rolled back", async () => {
    stackHas("UPDATE_ROLLBACK_COMPLETE");
    const { output } = await compare();
    expect(output).toContain(`STOP  ${tableInUse}`);
  });

  test("fails in one line when AWS has no template of the stack", async () => {
    cloudFormation.on(GetTemplateCommand).resolves({});
    const output = [`Stack ${stackName} has no template`];
    expect(await compare()).toEqual({ exitCode: 2, output });
  });
});

describe("a comparison with a saved template", () => {
  test("asks AWS nothing", async () => {
    const [option = "", file = ""] = await saved(templateUsing("OLD"));
    const { output } = await compare(option, file);
    expect(output.slice(0, 2)).toEqual([
      `${stackName} compared with ${file}: 1 finding`,
      `STOP  ${tableInUse}`,
    ]);
    expect([...cloudFormation.calls(), ...sts.calls()]).toEqual([]);
  });

  test.each([
    ["another environment's", "Pet store orders service, loose", ".*, loose"],
    ["no", undefined, "no description"],
  ])("rejects a template with %s description", async (_, Description, printed) => {
    const template = await saved({ ...templateUsing("OLD"), Description });
    const message = new RegExp(
      `saved\\.json belongs to another environment: ${printed}, not .*, kept$`,
    );
    expect(await compare(...template)).toEqual({
      exitCode: 2,
      output: [expect.stringMatching(message)],
    });
  });
});

describe("a first deployment", () => {
  test.each<[string, () => void]>([
    ["there is no stack", stackDoesNotExist],
    ["a change set was made but never run", () => stackHas("REVIEW_IN_PROGRESS")],
    ["the one before failed", () => stackHas("ROLLBACK_COMPLETE")],
  ])("stops when the stack should hold data and %s", async (_, setUp) => {
    setUp();
    expect(await compare()).toEqual({
      exitCode: 1,
      output: [
        `${stackName} is not deployed ${where}: 1 finding`,
        "STOP  first-deployment  its tables will be new and empty",
        'To accept: --accept "first-deployment"',
      ],
    });
  });

  test("passes once it is accepted", async () => {
    stackDoesNotExist();
    expect(await compare("--accept", "first-deployment")).toMatchObject({ exitCode: 0 });
  });

  test("passes where no data is kept", async () => {
    stackDoesNotExist();
    const output = [`${stackName} is not deployed ${where}: 0 findings`];
    expect(await app.run("compare", "loose", "--app", app.directory)).toEqual({
      exitCode: 0,
      output,
    });
  });
});

describe("an environment that is pinned to an account", () => {
  test("rejects the credentials of another account", async () => {
    sts.on(GetCallerIdentityCommand).resolves({ Account: "999999999999" });
    expect(await app.run("deploy", "pinned", "--app", app.directory)).toEqual({
      exitCode: 2,
      output: [
        "pinned belongs to account 111111111111, but these credentials are for 999999999999: " +
          "assume a role in 111111111111 first",
      ],
    });
    expect(cloudFormation.calls()).toEqual([]);
  });

  test("is compared in its own region, wherever the caller is", async () => {
    vi.stubEnv("AWS_REGION", "eu-west-3");
    await app.run("compare", "pinned", "--app", app.directory);
    const clients = [...cloudFormation.calls(), ...sts.calls()].map(({ thisValue }) => thisValue);
    const regions = await Promise.all(clients.map(({ config }) => config.region()));
    expect(new Set(regions)).toEqual(new Set([region]));
  });
});

describe("a command line with", () => {
  const wrongCommandLines: [string, string[], RegExp][] = [
    ["an unknown environment", ["compare", "nowhere"], /^error: 'nowhere' is invalid.*kept, loose/],
    ["no synthesised app", ["compare", "kept", "--app", "missing"], /^missing has no stack/],
    [
      "a template that isn't JSON",
      ["compare", "kept", "--template", "README.md"],
      /^README.md is not a template in JSON$/,
    ],
    [
      "a template that has no resources",
      ["compare", "kept", "--template", "package.json"],
      /^package.json is not a template in JSON$/,
    ],
    [
      "a template that is a folder",
      ["compare", "kept", "--template", "infra"],
      /^infra is not a template in JSON$/,
    ],
    [
      "a template that does not exist",
      ["compare", "kept", "--template", "missing"],
      /^missing: no such file or directory$/,
    ],
    [
      "a context for an app that is synthesised already",
      ["deploy", "kept", "--app", ".", "-c", "canary=false"],
      /'-c.*' cannot be used with option '--app/,
    ],
  ];

  test.each(wrongCommandLines)("%s fails in one line", async (_, words, message) => {
    const output = [expect.stringMatching(message)];
    expect(await app.run(...words)).toEqual({ exitCode: 2, output });
  });

  test.each(wrongCommandLines)("%s is rejected before AWS is asked", async (_, words) => {
    await app.run(...words);
    expect(sts.calls()).toEqual([]);
  });
});

test("a refusal by CloudFormation ends the command before synthesis", async () => {
  describingFails(Object.assign(new Error("You may not"), { name: "AccessDenied" }));
  const output = ["AWS denied access: You may not"];
  expect(await app.run("compare", "kept")).toEqual({ exitCode: 2, output });
});
