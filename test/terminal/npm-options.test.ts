import { expect, test, vi } from "vitest";
import { adviceOnNpm } from "../../infra/terminal/npm-options.ts";

const options = [
  "--port <number>",
  "--watch",
  "--api-key <key>",
  "--app <directory>",
  "--cancel <order-id>",
  "-c, --context <key=value>",
];

test.each<[words: string, kept: Record<string, string>, line: string | undefined]>([
  ["start", { watch: "true" }, "npm start -- --watch"],
  ["start 3001", { port: "true" }, "npm start -- --port 3001"],
  ["start 3001", { port: "true", watch: "true" }, "npm start -- --port 3001 --watch"],
  ["start", { api_key: "a key" }, "npm start -- --api-key 'a key'"],
  ["admin keys list", { watch: "true" }, "npm run admin -- keys list --watch"],
  ["smoke 7", { cancel: "true" }, "npm run smoke -- --cancel 7"],
  ["deploy deploy staging", { port: "1" }, "npm run deploy -- staging --port 1"],
  // npm doesn't say which of the words is the port.
  ["deploy deploy staging 1", { port: "true" }, "npm run deploy -- ... --port <number>"],
  // Options that npm takes for its own.
  ["deploy deploy", { parseable: "true" }, "npm run deploy -- ... --app <directory>"],
  ["synth", { call: "canary=false" }, "npm run synth -- --context canary=false"],
  // npm kept none, or has a setting of that name while the option follows --.
  ["start", { watch: "" }, undefined],
  ["start --port=1", { port: "2" }, undefined],
])("npm run %s, of which npm kept %j, says to write %s", (words, kept, line) => {
  const [script, ...passedOn] = words.split(" ");
  for (const [name, value] of Object.entries(kept)) vi.stubEnv(`npm_config_${name}`, value);
  vi.stubEnv("npm_lifecycle_event", script);
  const advice = `npm keeps options before -- for itself. Write: ${line}`;
  expect(adviceOnNpm(options, passedOn)).toBe(line && advice);
  vi.stubEnv("npm_lifecycle_event", undefined);
  expect(adviceOnNpm(options, passedOn)).toBeUndefined();
});
