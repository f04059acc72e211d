// `npm run mutation:stack`, part of `npm run mutation`: every small change to the stack must be noticed by a test of its
// template. Every mutant synthesises its own templates, so it takes half an hour on two cores. The last whole run took 24
// minutes, and the lines of its survivors were run again after tests were added: 309 mutants killed and 23 survived
// (93.1 %); 261 more could not be synthesised at all, which Stryker reports as errors and leaves out. These survive, and
// why:
//
// Caught by tests that run what was synthesised, which can't run mutants:
// - bundle.ts: how bundles are made (bundles).
// No template shows it:
// - orders-api.ts, orders-stack.ts, service-function.ts: `?.` and checks for what CDK only declares optional.
// - orders-api.ts: the root by another name, and what stands between two methods: no path has two yet.
// - orders-stack.ts: a finding acknowledged that there is none of.
// Looks only:
// - orders-dashboard.ts: the labels of lines.
import service from "./stryker.config.mjs";

export default {
  ...service,
  mutate: ["infra/app.ts", "infra/stack/**/*.ts"],
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
