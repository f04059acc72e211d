// `npm run mutation` changes the deployed code in small ways, and each change must fail a test. It
// takes ten minutes. These survive, and why:
//
// Caught by tests that can't run mutants:
// - `createGzip({})`: the first page would wait in the compressor (list-midway).
// - A pause that no signal ends (the commands that pause).
// - "" for a code or an event doesn't compile.
//
// No test can tell the difference:
// - Another text for an id that names no order, or for a key that is none.
// - middy always calls onError with an error; `logger: true` is not a function.
// - `undefined <= now` is false, and "undefined" is neither a number nor a date.
// - Without `gzip.close()` the compressor is freed later. The list's generator always has a first
//   value. A list of exactly the length worth compressing may go either way.
// - The tests for short numbers and early days only save work.
// - A cancelled order always has an item, and a page `Items`. The engine takes any type for another.
//
// Only the log shows it: names and causes of errors.
export default {
  mutate: ["functions/**/*.ts", "shared/*.ts"],
  testRunner: "vitest",
  vitest: { configFile: "test/mutation/vitest.mutation.ts", related: false },
  coverageAnalysis: "perTest",
  concurrency: 2,
  timeoutMS: 10_000,
  thresholds: { high: 95, low: 95, break: 95 },
  reporters: ["clear-text", "json"],
  clearTextReporter: { allowColor: false, logTests: false, reportTests: false },
  jsonReporter: { fileName: "reports/mutation.json" },
  // Stryker would rewrite the real one with an interface that TypeScript 7 no longer has; nothing
  // here needs it.
  tsconfigFile: "none",
  tempDirName: ".local/stryker",
  ignorePatterns: ["cdk.out", "reports", ".local"],
  // Descriptions of alarms, why a finding is acknowledged, and the help of commands.
  ignorers: ["text-for-people"],
  plugins: ["@stryker-mutator/*", "./test/mutation/text-for-people.mjs"],
};
