import { execFileSync } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { matchesGlob } from "node:path";
import { expect, test } from "vitest";
import { parseOrderLine } from "../../infra/tools/orders-file/order-line.ts";
import { makeApiKey } from "../../shared/api-keys.ts";
import { captured, pages } from "./pages.ts";

const all = pages.map(({ text }) => text).join("\n");

test("on call's last filter finds the log's lines about the listed orders, and no others", () => {
  const [filter = ""] = captured(all, /(grep -Ff <\(sed '.*?') "\$IDS"\)/g);
  const log = '"orderId":"4711"\n"orderId":"-47"\n"orderId":"-4711"\n"orderId":"47"';
  const script = `echo '${log}' | ${filter} <<< $' -4711\\n 47')`;
  const found = execFileSync("bash", ["-c", script], { encoding: "utf8" });
  expect(found).toBe('"orderId":"-4711"\n"orderId":"47"\n');
});

test("an example of a line is one, and the order to cancel is in the imported file", () => {
  const [line = ""] = captured(all, /```json\n(\{"id".*?)\n```/g);
  expect(parseOrderLine(line)).toHaveProperty("item");
  const [before] = captured(all, /n = 1; .*?id: (\S+) \+ n,/g);
  const first = `${Number(before) + 1}`;
  expect(captured(all, /--cancel (\d+) --thorough/g)).toEqual([first]);
});

test("there are tests where the pages run some", () => {
  const files = globSync("test/**/*.test.ts");
  const paths = captured(all, /npm test -- ([\w/-]+)/g);
  const empty = paths.filter((path) => !files.some((file) => file.startsWith(path)));
  expect(empty).toEqual([]);
});

test("the filter for the gateway's own address finds its calls", () => {
  const [glob = ""] = captured(all, /domainName = "(.*?)"/g);
  expect(matchesGlob("1a2b.execute-api.eu-central-1.amazonaws.com", glob)).toBe(true);
});

test("the quota to raise is the one that the costs count on", () => {
  const limits = readFileSync("test/bench/limits.ts", "utf8");
  const [code = "no code"] = captured(all, /--service-code lambda --quota-code (\S+)/g);
  expect(limits).toContain(code);
  const [asked, least] = captured(
    all,
    /(?:--desired-value |Ask for at least )([\d,]+\d)/g,
  );
  expect(Number(asked)).toBeGreaterThanOrEqual(Number(least?.replace(",", "")));
});

test("the search of the logs on AWS finds a leaked key, and no other text", () => {
  const [pattern = ""] = captured(all, /'%(PREFIX.*?)%'/g);
  const key = makeApiKey("pets_live");
  const line = `Bearer ${key}, of pets_live, not ${makeApiKey("pets_test")}`;
  const found = line.match(RegExp(pattern.replace("PREFIX", "pets_live"), "g"));
  expect(found).toEqual([key]);
});

test("the stack policy is lifted by the statement that it begins with", () => {
  const [lifted = "none"] = captured(all, /^ALLOW='{"Statement":\[(.*)\]}'$/gm);
  const policy = readFileSync("infra/stack-policy.json", "utf8").replaceAll(/\s/g, "");
  expect(policy).toContain(`[${lifted},`);
});

/** What the pages name more than once: by one group all over them, by more once in each match. */
const same: [what: string, names: RegExp][] = [
  ["who may read the file of a key", /umask (\d+)/g],
  ["zsh's option", /setopt (\w+)/g],
  ["how a key is pasted", /read (-\w+ API_KEY && export \w+)/g],
  ["the local service's port", /http:\/\/localhost:(\d+)(?:\/[`v]|,)/g],
  ["the engine's port", /(?:127\.0\.0\.1:|dynoxide --port |DB_ENDPOINT=.*:)(\d+)/g],
  ["the least Node", /need Node\.js (\d+)/g],
  ["Node's version", /Node(?:\.js)? (\d\d) (?:that|for)/g],
  ["the version of policies", /"Version": "(.*?)"/g],
  ["that policies allow", /"Effect": "(\w+)"/g],
  ["the bootstrap's qualifier", /(hnb\w+)/g],
  ["the branch to run", /--ref (\w+)/g],
  ["the input for digests", /-f ([\w-]+)=DIGEST/g],
  ["the start of a log's part", /--start-time "\$\((.*?)\)"/g],
  ["what is a resource's name", /^\w+=\$\(aws .*?list-stack-resources .*?\]\.(\w+)/gms],
  ["the log with requests", /'(\w+)Log'\)[^`]*?\$\.(?:keyId|domainName)/g],
  ["the log with cancellations", /'(\w{6})\w*Log'\)[^`]*?event = "(?:order_)?(cancel)/g],
  ["the API's id", /^(API)_ID=[^`]*::Rest(\w+)'/gm],
  ["functions to move", /AWS::Lambda::(\w+)'[^`]*?get-alias --(\w+)-name/g],
  [
    "moved aliases",
    /\b([A-Z]) is the version[\s\S]*?on-version (\w+) --routing-config '\{\}'/g,
  ],
  ["the cache to flush", /flush-stage-(\w+)-cache[\s\S]*?\/cache\/(\w+)"/g],
  ["what has a status", /apigateway get-(?:rest-)?([a-z-]+) .*--query (\w+)Status/g],
  [
    "the copy",
    /--target-table-name ("\$.*?")[\s\S]*?aws dynamodb delete-table .* (\S+)/g,
  ],
  ["repaired orders", /orders repair .*>> (\S+)[\s\S]*?`IDS=(\S+)`/g],
  ["kept tables", /(orders|keys) repair .*--from KEPT_(\w+)/g],
  ["the first deployment", /--accept ([a-z-]+)[\s\S]*?- `([a-z-]+)`: there is no stack/g],
  [
    "the stack policy, before and after",
    /(set-sta.*)\n```[\s\S]*?"\$ALLOW"\n.*\naws \S+ (.*)/g,
  ],
  ["the boundary's file", /stack's roles as `(\w+)[\s\S]*?file:\/\/(\w+)/g],
  ["files of policies", /--policy-name pet-store-orders-(\w+) .*file:\/\/(\w+)/g],
  ["CloudFormation's policy", /file:\/\/(\w+)\.json\nnpx cdk bootstrap.*-(\w+)$/gm],
  [
    "the boundary",
    /permissionsBoundary: "(.*?)"[\s\S]*?"iam:PermissionsBoundary": ".*\/(.*?)"[\s\S]*?--policy-name (\S+)/g,
  ],
  ["how long an address is unused", /--since 1(\w) .*domainName[\s\S]*?for a (\w)/g],
  ["where checks are made", /points on (\w+)[\s\S]*?import --env (\w+) many/g],
  ["what is denied", /deny `\w+` its (\w+)[\s\S]*?"Deny","Action":"dynamodb:(\w+)"/g],
  [
    "the denial",
    /put-role-policy (.*?) --policy-document[\s\S]*?delete-role-policy (.*)/g,
  ],
  [
    "GitHub's provider",
    /--url https:\/\/(\S+)[\s\S]*?oidc-provider\/(.*?)"[\s\S]*?"(\S+):aud"[\s\S]*?"(\S+):sub"/g,
  ],
  [
    "GitHub's audience",
    /--client-id-list (\S+)[\s\S]*?:aud": "(.*?)"[\s\S]*?`(.*?)\.cn`/g,
  ],
  ["the role's action", /"Action": "(sts:.*?)",\s+"Con[\s\S]*?perform (.*?)"/g],
  ["the role's ids", /(?:repo:|\/)(\w+)@(\w+)_ID/g],
  ["the role's environment", /_ID(:\S+)"[\s\S]*?REPO(:\S+)`/g],
  ["the drift check's environment", /in staging (drift-\w+) [\s\S]*?with `(\S+)` or/g],
  ["the owner's id", /Look up (\w+)_ID and REPO_ID:[\s\S]*?--jq '\.(\w+)\.id,\.id'/g],
  ["the path of orders", /(?:3000\/v1|BASE_URL|GET |DELETE )\/(\w+\/\w+)/g],
  ["how an order is cancelled", /curl .*-X (\w+)/g],
  ["the name that a link shows", /\[`([\w.-]+\.\w+)`\]\((?:\S*\/)?([\w.-]+(?<!md))\)/g],
  ["the bootstrap of a qualifier", /CDKToolkit-(\w+)[\s\S]*?Qualifier": "(\w+)"/g],
  ["a long name's letters", /first (\d+)(?: letters| and|\?)/g],
  ["names that are long", /(?:longer|more) than (\d+) letters/g],
  [
    "a table that is ready",
    /prints `(\w+)`:\s+```sh\naws dynamodb[\s\S]*?at last (\w+)/g,
  ],
  ["the role for logs", /apigateway get-(\w+)`\s[^`]*`aws apigateway update-(\w+)`/g],
  ["the other repair", /write `(\w+)` instead of `orders`, and `Api(\w+)`/g],
  ["what a failed import, export or repair exits with", /exit\s+code\s+is\s+(\d)/g],
  ["the field that undoes", /`--fields (\w+)(?: --ids FILE)?`\s+undoes/g],
  ["how long tables can be restored", /(?:last|for|from) (\d+) days/g],
  ["how long a change of TLS takes", /(?:about|take)\s(\d+)\sminutes/g],
  ["the log's variable", /^(\w+)=\$\(aws[^`]*?aws logs [^"`]*"\$(\w+)"/gm],
  ["the workflow that deploys", /(?:gh workflow \w+|--workflow) ([\w-]+)\.yml/g],
  ["the event that Lambda logs", /`(platform\.\w+)`/g],
  ["the heading of a change", /under `## (\w+)`[\s\S]*?Replace `(\w+)`/g],
  ["who gets mails", /(?:either|confirm) `(alarms\.\w+)`/g],
  ["what is compared", /petstore (?:deploy (?=\w+ --)|compare |diff )([a-z]+)/g],
  ["the API's variable", /(?:^(?=\w+=\$[^`]*::RestApi)|--rest-api-id "\$)(\w+)/gm],
  ["what is bootstrapped", /aws:\/\/(\w+\/\w+)/g],
  ["the header with the key", /-H "Authorization: (.*?)"/g],
  ["the canary", /-c canary=(\w+)/g],
  ["the stage", /stage(?:-name)? (v\d)/g],
  ["whose role it is", /--env (\w+) --body (\w+)_ROLE/g],
  ["new deployments", /stop new (deploy)ments: `gh workflow disable (\w+)\./g],
  ["alarms", /--state-value (\w+) [\s\S]*?While an (\w+) is firing/g],
  ["backups", /BackupSummaries.*Backup(\w+)\]"[\s\S]*?--backup-arn (\w+)/g],
  ["lists of orders", /--status (\w+) --json > (\w+)\./g],
  ["a release's tag", /git tag (\S+) && git push origin (\S+)`/g],
  ["the released document", /cp shared\/(openapi)\.\S+ test\/(openapi)\/released\.yaml/g],
  ["a package's hash", /without `(\w+)` that[\s\S]*?dist\.(\w+)/g],
];

test.each(same)("the pages agree on %s", (_what, names) => {
  const found = Array.from(all.matchAll(names), ([, ...parts]) =>
    parts.map((part) => part.replaceAll(/\W|_/g, "").toLowerCase()),
  );
  expect(found).not.toEqual([]);
  for (const parts of found)
    expect([...new Set(parts[1] ? parts : found.flat())]).toHaveLength(1);
});
