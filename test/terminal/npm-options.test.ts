import { Option } from "commander";
import { expect, test, vi } from "vitest";
import { adviceOnNpm } from "../../infra/terminal/npm-options.ts";

const options = [
  new Option("--port <number>"),
  new Option("--watch"),
  new Option("--api-key <key>"),
  new Option("--app <directory>"),
  new Option("--to <table>"),
  new Option("-c, --context <key=value>"),
];

/** The line about a command line of which npm has put some options into the environment. */
function lineFor(script: string, words: string[], kept: Record<string, string>) {
  vi.stubEnv("npm_lifecycle_event", script);
  for (const [name, value] of Object.entries(kept)) vi.stubEnv(`npm_config_${name}`, value);
  return adviceOnNpm(options, words);
}

const keeps = "npm keeps options before -- for itself. Write:";

test.each<[string, string[], Record<string, string>, string]>([
  ["start", [], { watch: "true" }, "npm start -- --watch"],
  ["start", ["3001"], { port: "true" }, "npm start -- --port 3001"],
  ["start", ["3001"], { port: "true", watch: "true" }, "npm start -- --port 3001 --watch"],
  ["start", [], { api_key: "a key" }, "npm start -- --api-key 'a key'"],
  ["admin", ["keys", "list"], { watch: "true" }, "npm run admin -- keys list --watch"],
  ["deploy", ["deploy", "staging"], { port: "1" }, "npm run deploy -- staging --port 1"],
  // npm doesn't say which of the words is the port.
  ["deploy", ["deploy", "staging", "1"], { port: "true" }, "npm run deploy -- ... --port <number>"],
  // Options that npm takes for its own.
  ["deploy", ["deploy"], { parseable: "true" }, "npm run deploy -- ... --app <directory>"],
  ["synth", [], { call: "canary=false" }, "npm run synth -- --context canary=false"],
  ["admin", [], { token_description: "t" }, "npm run admin -- --to t"],
])("npm run %s with the words %j, of which npm kept %j, says what to write", (...row) => {
  const [script, words, kept, line] = row;
  expect(lineFor(script, words, kept)).toBe(`${keeps} ${line}`);
});

test.each<[string, string[], Record<string, string>]>([
  ["npm kept none", [], { watch: "" }],
  ["npm has a setting of that name, and the option follows --", ["--port=1"], { port: "2" }],
])("nothing is said when %s", (_, words, kept) => {
  expect(lineFor("start", words, kept)).toBeUndefined();
});

test("nothing is said outside npm", () => {
  vi.stubEnv("npm_config_watch", "true");
  vi.stubEnv("npm_lifecycle_event", undefined);
  expect(adviceOnNpm(options, [])).toBeUndefined();
});
