// `npm run mutation:stack`, part of `npm run mutation`: every small change to the stack must be noticed by a test of its
// template. It takes long, because every mutant synthesises its own templates: 553 mutants of about 5 s of CPU each, some
// 25 minutes on two idle cores by that estimate.
import service from "./stryker.config.mjs";

export default {
  ...service,
  mutate: ["infra/stack/**/*.ts"],
  vitest: { configFile: "test/mutation/stack.vitest.ts", related: false },
  // Templates are synthesised while test files load, so every mutant is there from the start and meets every test.
  coverageAnalysis: "off",
  timeoutMS: 60_000,
  thresholds: { high: 95, low: 85, break: 85 },
  // Texts for people: descriptions of alarms, and why a finding is acknowledged.
  ignorers: ["text-for-people"],
  plugins: ["@stryker-mutator/*", "./test/mutation/text-for-people.mjs"],
  jsonReporter: { fileName: "reports/stack-mutation.json" },
};
