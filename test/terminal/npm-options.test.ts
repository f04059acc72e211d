import { expect, test, vi } from "vitest";
import { adviceOnNpm } from "../../infra/terminal/npm-options.ts";

const options = [
  "-p, --port <number>",
  "--watch",
  "--api-key <key>",
  "--app <directory>",
  "-c, --context <key=value>",
];

test.each<[words: string, kept: Record<string, string>, line: string | undefined]>([
  ["start", { watch: "true" }, "npm start -- --watch"],
  [
    "start 3001",
    { port: "true", watch: "true" },
    "npm start -- ... --port <number> --watch",
  ],
  ["smoke", { api_key: "a key" }, "npm run smoke -- --api-key <key>"],
  // Options that npm takes for its own.
  ["deploy staging", { parseable: "true" }, "npm run deploy -- ... --app <directory>"],
  ["synth", { call: "canary=false" }, "npm run synth -- --context <key=value>"],
  // npm kept none, or has a setting of that name while the option follows --.
  ["start", { watch: "" }, undefined],
  ["start --port=1", { port: "2" }, undefined],
])("npm run %s, of which npm kept %j, says to write %s", (words, kept, line) => {
  const [script, ...passedOn] = words.split(" ");
  for (const [name, value] of Object.entries(kept))
    vi.stubEnv(`npm_config_${name}`, value);
  vi.stubEnv("npm_lifecycle_event", script);
  const advice = `npm keeps options before -- for itself. Write: ${line}`;
  expect(adviceOnNpm(options, passedOn)).toBe(line && advice);
  vi.stubEnv("npm_lifecycle_event", undefined);
  expect(adviceOnNpm(options, passedOn)).toBeUndefined();
});
