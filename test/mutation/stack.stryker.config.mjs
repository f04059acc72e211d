// `npm run mutation:stack`, part of `npm run mutation`: every small change to the stack must be noticed by a test of its
// template. Every mutant synthesises its own templates, so it takes half an hour on two cores. The last run took 28
// minutes: 270 mutants killed and 29 survived (90.3 %); 238 more could not be synthesised at all, which Stryker reports
// as errors and leaves out. These survive, and why:
//
// Caught by tests that run what was synthesised, which can't run mutants:
// - service-function.ts: how bundles are made (bundles).
// - orders-stack.ts: the names of the tables' keys (http).
// - without-canary.ts: `canary: false`, and which constructs are aliases (app, which runs `infra/app.ts`).
// No template shows it:
// - orders-api.ts, service-function.ts: `?.` and checks for what CDK only declares optional.
// - orders-stack.ts: a finding acknowledged that there is none of. canary-rollout.ts: the id of a construct.
// Looks only:
// - orders-dashboard.ts: the labels of lines.
// Caught since:
// - orders-api.ts: `allowTestInvoke: true`.
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
