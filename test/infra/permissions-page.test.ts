import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { everyOption, noOption } from "../helpers/fixture-environments.ts";
import { rows, templateOf } from "../helpers/synthesise.ts";

interface Statement {
  Action: string | string[];
  Resource: string | string[];
  Condition?: { StringEquals: Record<string, string | string[]> };
}

/** The statements of a policy, or one that is to be added to a policy. */
const statementsOf = (json: { Statement?: Statement[] } & Statement): Statement[] =>
  (json.Statement ?? [json]).map((statement) => {
    // A key has no name of its own on a page: the service that may use it stands for it.
    const { Condition, Resource } = statement;
    return {
      ...statement,
      Resource: Condition?.StringEquals["kms:ViaService"] ?? Resource,
    };
  });

const policies: Record<string, Statement[]> = {};
const page = ["PERMISSIONS", "MAKE-IT-YOURS"]
  .map((name) => readFileSync(`infra/${name}.md`, "utf8"))
  .join("\n");
const parts = /^(?:#+ |\*\*(?=Your))([^\n*]*)|^```json\n(\{.*?)^```/gms;
let heading = "";
for (const [, title, json] of page.matchAll(parts)) {
  heading = title ?? heading;
  // A second policy below a heading is a boundary.
  const name = policies[heading] ? `${heading}, boundary` : heading;
  if (json) policies[name] = JSON.parse(`[${json}]`).flatMap(statementsOf);
}

const matches = (patterns: string | string[], text: string): boolean =>
  [patterns].flat().some((pattern) => {
    const expression = RegExp.escape(pattern).replaceAll("\\*", ".*");
    return new RegExp(`^${expression}$`).test(text);
  });

const allows = (policy: string, action: string, resource: string): boolean | undefined =>
  policies[policy]?.some(
    ({ Action, Resource }) => matches(Action, action) && matches(Resource, resource),
  );

/** Actions, with spaces between them, by the name of the resource that they are called on. */
type Calls = Record<string, string>;
interface Data {
  resources: Record<string, string>;
  tasks: Record<string, Calls>;
  creating: Record<string, string>;
}
const [qualifier = ""] = /(?<=role\/cdk-)\w+/.exec(page) ?? [];
const data = readFileSync("test/infra/permissions.yaml", "utf8");
const { resources, tasks, creating }: Data = parse(
  data.replaceAll("QUALIFIER", qualifier),
);

type Call = [action: string, resource: string];
const call = (action: string, name: string): Call => [action, resources[name] ?? name];
const callsOf = (calls: Calls) =>
  Object.entries(calls).flatMap(([name, actions]) =>
    actions
      .trim()
      .split(" ")
      .map((action) => call(action, name)),
  );
const allCalls = Object.values(tasks).flatMap(callsOf);

test.each(Object.entries(tasks).filter(([policy]) => policy !== "nobody"))(
  "the policy %s allows what its tasks need, and no more",
  (policy, needed) => {
    const calls = callsOf(needed);
    expect(calls.filter((call) => !allows(policy, ...call))).toEqual([]);
    const isNeeded = ([action, resource]: Call) =>
      calls.some(
        (other) => matches(other[0], action) && ["*", resource].includes(other[1]),
      );
    const tooMuch = allCalls.filter((call) => !isNeeded(call) && allows(policy, ...call));
    expect(tooMuch).toEqual([]);
    const unneeded = policies[policy]?.flatMap(({ Action, Resource }) =>
      [Action]
        .flat()
        .filter(
          (pattern) =>
            !calls.some(
              (call) => matches(pattern, call[0]) && matches(Resource, call[1]),
            ),
        ),
    );
    expect(unneeded).toEqual([]);
  },
);

test("whoever is on call may use every command of the page", () => {
  const operator = ["On call", "Orders", "Undo an import", "Keys", "Repair"].flatMap(
    (name) => policies[name] ?? [],
  );
  const runbook = readFileSync("infra/ON-CALL.md", "utf8");
  const blocks = runbook.match(/^```sh$.*?^```$/gms)?.join("\n") ?? "";
  const calls = Array.from(
    blocks.matchAll(/\baws ([a-z]+) ([a-z-]+)/g),
    ([, service, words]) =>
      `${service}:${words?.replaceAll(/(?:^|-)(.)/g, (_, letter) => letter.toUpperCase())}`
        .replace(/^(apigateway:)Get.*/, "$1GET")
        .replace(/^(apigateway:)Flush.*/, "$1DELETE")
        .replace("logs:Tail", "logs:FilterLogEvents"),
  );
  expect(calls.length).toBeGreaterThan(25);
  expect(
    calls.filter((call) => !operator.some(({ Action }) => matches(Action, call))),
  ).toEqual([]);
});

test("the policy Bootstrap lets CloudFormation create whatever a setting asks for", () => {
  const all: { Type: string }[] = Object.values(
    templateOf(everyOption).toJSON()["Resources"],
  );
  const denied = all.filter(({ Type }) => {
    const [, words = ""] =
      Object.entries(creating).find(([start]) => Type.startsWith(start)) ?? [];
    const [action = "", name = ""] = words.split(" ");
    return !allows("Bootstrap", ...call(action, name));
  });
  expect(denied).toEqual([]);
});

test("the policy Bootstrap passes roles only to the services that take one", () => {
  const passing = policies["Bootstrap"]?.find(({ Action }) => Action === "iam:PassRole");
  const services = [everyOption, noOption].flatMap((environment) =>
    rows(templateOf(environment), "AWS::IAM::Role").map(
      ([, role]) => role.AssumeRolePolicyDocument.Statement[0].Principal.Service,
    ),
  );
  expect(passing?.Condition?.StringEquals["iam:PassedToService"]).toEqual(
    Array.from(new Set(services)).sort(),
  );
});

test("the boundary allows what each function does", () => {
  const granted: string[] = rows(templateOf(everyOption), "AWS::IAM::Policy").flatMap(
    ([, { PolicyDocument }]) =>
      PolicyDocument.Statement.flatMap(({ Action }: Statement) => Action),
  );
  expect(granted).toContain("logs:PutLogEvents");
  const denied = granted.filter((action) => {
    const name = action.startsWith("dynamodb:") ? "orders" : "log";
    return !allows("Bootstrap, boundary", ...call(action, name));
  });
  expect(denied).toEqual([]);
});
