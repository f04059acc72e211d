// `npm run mutation`: every small change to what is deployed must be noticed by a test. These are not, and why:
//
// Held by tests that run the bundles, where no mutant can be switched on (outages, list-midway):
// - functions/*: `createClient({})`: without its limits a call to a silent engine outlasts the function.
// - functions/authorize.ts: `middy({})`: stops 5 ms, not 250 ms, before its time is up.
// Nobody could tell the difference:
// - functions, answer-errors.ts: `?? "Stryker was here!"`: this names no key and no order either.
// - functions/authorize.ts: `error.message`: middy calls onError with an error.
// - answer-errors.ts: `logger: true` is no function, and so as good as false.
// - api-keys-table.ts, order-json.ts: `undefined <= now` is false, and "undefined" is no number and no date.
// - order-list.ts: the list's generator always has a first value; an empty chunk writes nothing; a list of exactly the
//   length worth compressing may go either way; the catch only keeps a failure quiet that is awaited a moment later.
// - order-list.ts: `performance.now() + opened`: how long the first page took is logged, and no test times anything.
// - order.ts: the tests for short numbers and early days only save the longer ones.
// - orders-table.ts: `error.Item[...]`: an order that is cancelled is there.
export default {
  mutate: ["functions/**/*.ts", "shared/**/*.ts"],
  testRunner: "vitest",
  vitest: { configFile: "test/mutation/vitest.mutation.ts", related: false },
  coverageAnalysis: "perTest",
  concurrency: 2,
  timeoutMS: 10_000,
  thresholds: { high: 95, low: 90, break: 90 },
  reporters: ["clear-text", "json"],
  clearTextReporter: { allowColor: false, logTests: false, reportTests: false },
  jsonReporter: { fileName: "reports/mutation.json" },
  // Stryker would rewrite the real one with an interface that TypeScript 7 no longer has; nothing here needs it.
  tsconfigFile: "none",
  tempDirName: ".local/stryker",
  ignorePatterns: ["cdk.out", "reports", ".local"],
};
