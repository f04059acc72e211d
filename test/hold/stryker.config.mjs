// `npm run mutation`: every small change to what is deployed must be noticed by a test.
export default {
  mutate: ["functions/**/*.ts", "shared/**/*.ts"],
  testRunner: "vitest",
  vitest: { configFile: "test/hold/vitest.mutation.ts", related: false },
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
  symlinkNodeModules: true,
  allowEmpty: false,
};
