import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parseOrderLine } from "../../infra/tools/orders-file/order-line.ts";
import { makeApiKey } from "../../shared/api-keys.ts";
import { everyOption } from "../helpers/fixture-environments.ts";
import { templateOf } from "../helpers/synthesise.ts";
import { captured, pages } from "./pages.ts";

test("services of this account may find the table, and do to orders what those of writerAccounts may", () => {
  const page = pages.find(({ page }) => page === "shared/ORDERS-TABLE.md");
  const [policy = ""] = captured(page?.text ?? "", /```json\n(.*?)```/gs);
  const [{ Action }, lookUp] = JSON.parse(policy).Statement;
  expect(lookUp.Action).toBe("cloudformation:DescribeStacks");
  expect(lookUp.Resource).toMatch(/:stack\/[\w-]+\/\*$/);
  const tables = templateOf(everyOption).findResources("AWS::DynamoDB::Table", {
    Properties: { ResourcePolicy: { PolicyDocument: { Statement: [{ Action }] } } },
  });
  expect(Object.keys(tables)).toHaveLength(1);
});

test("on call's last filter finds the log's lines about the listed orders, and no others", () => {
  const onCall = pages.find(({ page }) => page === "infra/ON-CALL.md")?.text ?? "";
  const [filter = ""] = captured(onCall, /(grep -Ff <\(sed '.*?') "\$IDS"\)/g);
  const log = ["4711", "47110", "-4711"].map((orderId) => JSON.stringify({ orderId }));
  const script = `printf '%s\\n' ${log.map((line) => `'${line}'`).join(" ")} | ${filter} <<< ' 4711')`;
  expect(execFileSync("bash", ["-c", script], { encoding: "utf8" })).toBe(`${log[0]}\n`);
});

test("the local stack's page starts an engine where it then looks for it", () => {
  const { text = "" } = pages.find(({ page }) => page.includes("tools/local")) ?? {};
  const [port] = captured(text, /DYNAMODB_ENDPOINT=http:\/\/localhost:(\d+)/g);
  const ports = captured(text, /(?:127\.0\.0\.1:|dynoxide --port )(\d+)/g);
  expect(ports).toEqual([port, port]);
});

const all = pages.map(({ text }) => text).join("\n");

test("an example of a line is one, and the order to cancel is in the imported file", () => {
  const [line = ""] = captured(all, /```json\n(\{"id".*?)\n```/g);
  expect(parseOrderLine(line)).toHaveProperty("item");
  const [script = ""] = captured(all, /^(node -e 'for .*?') > many/gms);
  const first = execFileSync("bash", ["-c", `${script} | head -1`], { encoding: "utf8" });
  expect(captured(all, /--cancel (\d+) --thorough/g)).toEqual([
    `${JSON.parse(first).id}`,
  ]);
});

test("the filter for the gateway's own address finds its calls", () => {
  const [glob = ""] = captured(all, /domainName = "(.*?)"/g);
  const pattern = `^${glob.replaceAll(".", "\\.").replaceAll("*", ".*")}$`;
  expect("1a2b.execute-api.eu-central-1.amazonaws.com").toMatch(new RegExp(pattern));
});

test("an alias that is moved by hand gets all requests", () => {
  for (const options of captured(all, / update-alias (.*)/g))
    expect(options).toContain("--routing-config '{}'");
});

test("the quota to raise is the one that the costs count on", () => {
  const limits = readFileSync("test/bench/limits.ts", "utf8");
  for (const code of captured(all, /--quota-code (\S+)/g)) expect(limits).toContain(code);
});

test("the search of the logs on AWS finds a leaked key, and no other text", () => {
  const patterns = pages.flatMap(({ text }) => captured(text, /'%(PREFIX.*?)%'/g));
  const key = makeApiKey("pets_live");
  const line = `Bearer ${key}, of pets_live, not ${makeApiKey("pets_test")}`;
  const finds = (pattern: string) =>
    line.match(RegExp(pattern.replace("PREFIX", "pets_live"), "g"));
  expect(patterns.map(finds)).toEqual([[key]]);
});

test("the pipeline's role trusts the provider that the page adds, for an action and a subject it names", () => {
  const text = pages.find(({ page }) => page === "infra/PIPELINE.md")?.text ?? "";
  const [json = ""] = captured(text, /```json\n(.*?)```/gs);
  const [{ Principal, Action, Condition }] = JSON.parse(json).Statement;
  const [, host, audience] =
    /--url https:\/\/(\S+) --client-id-list (\S+)/.exec(text) ?? [];
  const { [`${host}:sub`]: subject, ...others } = Condition.StringEquals;
  expect(Principal.Federated).toMatch(new RegExp(`/${host}$`));
  expect(others).toEqual({ [`${host}:aud`]: audience });
  expect(text).toContain(`perform ${Action}"`);
  expect(text).toContain(`\`${subject.replaceAll(/@\w+/g, "")}\``);
});
