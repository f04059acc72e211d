import { describe, expect, test } from "vitest";
import { findChanges } from "../../infra/deploy/findings.ts";
import type { Template } from "../../infra/deploy/stacks.ts";
import type { Environment } from "../../infra/environments.ts";
import { functionList } from "../../infra/stack/function-list.ts";
import { everyOption } from "../helpers/fixture-environments.ts";
import { templateOf } from "../helpers/synthesise.ts";

const { domain, restoredTables: _restored, formerTables: _former, ...plain } = everyOption;
const withDomain: Environment = { ...plain, domain };
const template = synthesised(plain);
const ordersTable = one(template, "DynamoDB::Table", "Orders").id;

function synthesised(environment: Environment): Template {
  const { Resources = {}, Outputs = {} } = templateOf(environment).toJSON();
  return { Resources, Outputs };
}

/** The names of what a change of settings is found to do, without the hashes of logical ids. */
function names(was: Environment, is: Environment): string[] {
  const found = findChanges({ template: synthesised(was) }, { template: synthesised(is) });
  return found.map(({ name }) => name.replace(/[0-9A-F]{8}$/, ""));
}

/** The findings when a template changes like this, as `name  text`. */
function found(change: (next: Template) => void, deployed = template): string[] {
  const next = structuredClone(deployed);
  change(next);
  return findChanges({ template: deployed }, { template: next }).map(
    ({ name, text }) => `${name}  ${text}`,
  );
}

/** The one resource of a type whose logical id begins like this. */
function one({ Resources }: Template, type: string, start = "") {
  const all = Object.entries(Resources);
  const [first, ...others] = all.filter(
    ([id, { Type }]) => Type === `AWS::${type}` && id.startsWith(start),
  );
  if (!first || others.length > 0) throw new Error(`Not one of ${type} ${start}`);
  const [id, { Properties = {} }] = first;
  return { id, properties: Properties };
}

describe("the comparison passes", () => {
  test("code, a deployment of the API, an alarm that goes and a new function", () => {
    const changes = found((next) => {
      const { properties: authorize } = one(next, "Lambda::Function", "Authorize");
      authorize["Code"] = { S3Key: "new" };
      next.Resources["New"] = { Type: "AWS::Lambda::Function", Properties: authorize };
      const deployment = one(next, "ApiGateway::Deployment");
      next.Resources["Newer"] = {
        Type: "AWS::ApiGateway::Deployment",
        Properties: deployment.properties,
      };
      one(next, "ApiGateway::Stage").properties["DeploymentId"] = { Ref: "Newer" };
      delete next.Resources[deployment.id];
      delete next.Resources[one(next, "CloudWatch::Alarm", "AlarmsCancelSlow").id];
    });
    expect(changes).toEqual([]);
  });

  test("throttling, throughput, limits of alarms, cache, log level, dashboard and canary", () => {
    const { dashboard: _dashboard, listConcurrency: _listConcurrency, ...rest } = everyOption;
    const changed: Environment = {
      ...rest,
      tableThroughput: { reads: 1, writes: 1 },
      authorizerCacheSeconds: 1,
      throttling: { ...everyOption.throttling, listOrders: { rateLimit: 1, burstLimit: 1 } },
      functionLogLevel: "DEBUG",
      alarms: { ...everyOption.alarms, canary: false, listsCutOff: 9 },
    };
    expect([...names(everyOption, changed), ...names(changed, everyOption)]).toEqual([]);
  });
});

describe("the comparison stops at", () => {
  test("another table in use, by its name and not by how it is referred to", () => {
    const restored = {
      ...plain,
      restoredTables: { orders: "NEW", apiKeys: "NEWER" },
      ordersStream: false,
    };
    expect(names(plain, restored)).toEqual(
      expect.arrayContaining(["orders-table-in-use", "keys-table-in-use"]),
    );
    const use = (next: Template, table: unknown) => {
      for (const { Properties } of Object.values(next.Resources)) {
        const variables = Properties?.["Environment"]?.Variables ?? {};
        if ("ORDERS_TABLE" in variables) variables.ORDERS_TABLE = table;
      }
      if (next.Outputs) next.Outputs["OrdersTableName"] = { Value: table };
    };
    const own = `\${${ordersTable}}`;
    expect(found((next) => use(next, "NEW"))).toEqual([
      `orders-table-in-use  ORDERS_TABLE: ${own} becomes NEW`,
      `orders-table-in-use  OrdersTableName: ${own} becomes NEW`,
    ]);
    const named = structuredClone(template);
    one(named, "DynamoDB::Table", "Orders").properties["TableName"] = "NEW";
    expect(found((next) => use(next, "NEW"), named)).toEqual([]);
    expect(found(({ Outputs = {} }) => delete Outputs["OrdersTableName"])).toEqual([
      `orders-table-in-use  OrdersTableName: ${own} becomes nothing`,
    ]);
    const older = structuredClone(template);
    delete older.Outputs?.["OrdersTableName"];
    expect(findChanges({ template: older }, { template })).toEqual([]);
  });

  test("another key expression, another base address, one that is switched off, and a domain that goes", () => {
    expect(names(plain, { ...plain, apiKeyPrefix: "pets_other" })).toEqual(["key-expression"]);
    expect(names(plain, { ...plain, domain: { ...domain, keepGatewayAddress: true } })).toEqual([
      "base-url",
    ]);
    expect(names(plain, withDomain)).toEqual(["base-url", "gateway-address:ApiRest"]);
    expect(names(withDomain, plain)).toEqual(["base-url", "domain-removed:ApiDomainName"]);
    const renamed = { ...plain, domain: { ...domain, name: "example.com" } };
    expect(names(withDomain, renamed)).toEqual(["base-url", "domain-replaced:ApiDomainName"]);
  });

  test("weaker protection, recovery and retention, but not stronger", () => {
    const weak: Environment = {
      ...plain,
      keepData: false,
      logRetentionDays: 14,
      accessLogRetentionDays: 14,
    };
    const tables = ["ApiKeys", "Orders"];
    const logs = ["ApiAccess", "ApiExecution", ...Object.values(functionList).map(({ id }) => id)];
    expect(names(plain, weak).sort()).toEqual(
      [
        ...[...tables, ...logs.map((id) => `${id}Log`)]
          .filter((id) => id !== "ApiExecutionLog")
          .flatMap((id) => [`deletion-policy:${id}`, `replacement-policy:${id}`]),
        ...tables.flatMap((id) => [`deletion-protection:${id}`, `point-in-time-recovery:${id}`]),
        ...logs.map((id) => `log-retention:${id}Log`),
      ].sort(),
    );
    expect(names(weak, plain)).toEqual([]);
    const recovery = (RecoveryPeriodInDays: number) =>
      found((next) => {
        const settings = { PointInTimeRecoveryEnabled: true, RecoveryPeriodInDays };
        one(next, "DynamoDB::Table", "Orders").properties["PointInTimeRecoverySpecification"] =
          settings;
      });
    expect(recovery(7)).toEqual([`point-in-time-recovery:${ordersTable}  35 becomes 7`]);
    expect(recovery(35)).toEqual([]);
    expect(
      found(
        (next) => delete one(next, "Logs::LogGroup", "ApiAccess").properties["RetentionInDays"],
      ),
    ).toEqual([]);
  });

  test("termination protection that is switched off", () => {
    const on = { template, terminationProtection: true };
    const off = { template, terminationProtection: false };
    expect(findChanges(on, off).map(({ name }) => name)).toEqual(["termination-protection"]);
    expect([
      ...findChanges(off, on),
      ...findChanges(on, on),
      ...findChanges({ template }, off),
    ]).toEqual([]);
  });

  test.each(["RestApi", "DomainName"])("TLS of the %s that changes", (type) => {
    for (const property of ["SecurityPolicy", "EndpointAccessMode"]) {
      const changes = found((next) => {
        one(next, `ApiGateway::${type}`).properties[property] = "OTHER";
      }, synthesised(withDomain));
      expect(changes).toEqual([
        expect.stringMatching(/^tls {2}\w+: \w+ becomes OTHER; deploy it alone, without/),
      ]);
    }
  });

  test("a web ACL that goes, and a table that other accounts may no longer write, as in code that knows neither", () => {
    const { webAclArn: _, writerAccounts: __, ...older } = plain;
    expect(names(plain, older)).toEqual(["web-acl-removed:ApiWebAcl", "resource-policy:Orders"]);
    expect(names(older, plain)).toEqual([]);
  });

  test.each([
    ["DynamoDB::Table", "Orders", "table", "KeySchema"],
    ["ApiGateway::Stage", "", "stage", "StageName"],
    ["ApiGateway::RestApi", "", "api", undefined],
  ])("a %s that goes or is replaced", (type, start, kind, property) => {
    const { id } = one(template, type, start);
    expect(found(({ Resources }) => delete Resources[id])).toContainEqual(
      `${kind}-removed:${id}  ${kind === "table" ? "leaves the stack, but is kept" : "is deleted"}`,
    );
    if (property === undefined) return;
    const replaced = found((next) => {
      one(next, type, start).properties[property] = "other";
    });
    expect(replaced).toContain(`${kind}-replaced:${id}  is replaced by a new one`);
  });

  test("a global table of the team's own that goes, and one of its replicas that loses its protections", () => {
    const replica = {
      DeletionProtectionEnabled: true,
      PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
    };
    const own = {
      Type: "AWS::DynamoDB::GlobalTable",
      Properties: { Replicas: [replica, replica] },
    };
    const deployed = { ...template, Resources: { ...template.Resources, Own: own } };
    expect(found(({ Resources }) => delete Resources["Own"], deployed)).toEqual([
      "table-removed:Own  is deleted",
    ]);
    const weaker = found((next) => {
      next.Resources["Own"] = { ...own, Properties: { Replicas: [replica, {}] } };
    }, deployed);
    expect(weaker).toEqual([
      "deletion-protection:Own  true becomes false",
      "point-in-time-recovery:Own  35 becomes 0",
    ]);
  });

  test("a role that gains an action, wherever it gets that from", () => {
    const gained = (change: (statements: object[], role: Record<string, unknown>) => void) =>
      found((next) => {
        const { properties: policy } = one(next, "IAM::Policy", "CancelOrderRole");
        change(
          policy["PolicyDocument"].Statement,
          one(next, "IAM::Role", "CancelOrderRole").properties,
        );
      }).map((line) =>
        line.replace(/ {2}.*/, "").replace(/^action-gained:CancelOrder\w{8}:/, "gained "),
      );
    const allow = (Action: string | string[], Effect = "Allow") => ({
      Effect,
      Action,
      Resource: "*",
    });
    expect(gained((statements) => statements.push(allow("dynamodb:Scan")))).toEqual([
      "gained dynamodb:Scan",
    ]);
    expect(gained((statements) => statements.push(allow(["logs:PutLogEvents", "s3:*"])))).toEqual([
      "gained s3:*",
    ]);
    const allBut = { Effect: "Allow", NotAction: "iam:*", Resource: "*" };
    expect(gained((statements) => statements.push(allBut))).toEqual(["gained *"]);
    expect(gained((statements) => statements.push(allow("dynamodb:Scan", "Deny")))).toEqual([]);
    expect(gained((statements) => statements.pop())).toEqual([]);
    const managed = { ManagedPolicyArns: ["arn:aws:iam::aws:policy/AdministratorAccess"] };
    expect(gained((_, role) => Object.assign(role, managed))).toEqual([
      "gained AdministratorAccess",
    ]);
    const inline = { Policies: [{ PolicyDocument: { Statement: allow("dynamodb:PutItem") } }] };
    expect(gained((_, role) => Object.assign(role, inline))).toEqual(["gained dynamodb:PutItem"]);
    const ofTheStack = found((next) => {
      const Roles = [{ Ref: one(next, "IAM::Role", "CancelOrderRole").id }];
      const Properties = { Roles, PolicyDocument: { Statement: [allow("dynamodb:DeleteItem")] } };
      next.Resources["Own"] = { Type: "AWS::IAM::ManagedPolicy", Properties };
    });
    expect(ofTheStack).toEqual([
      expect.stringMatching(/^action-gained:CancelOrder\w{8}:dynamodb:DeleteItem /),
    ]);
  });
});
