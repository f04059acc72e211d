// `npm run mutation:stack`, part of `npm run mutation`: every small change to the stack must be
// noticed by a test of its template. Every mutant synthesises its own templates, so it takes more
// than an hour on two cores; those that can't be synthesised are errors, which Stryker leaves out.
// These survive, and why:
//
// Caught by tests that run what was synthesised, which can't run mutants: how bundles are made and
// from which files, and that the app starts by itself.
//
// No template shows it: `?.` for what CDK only declares optional, what CDK sets or adds itself, the
// root's name, what stands between two methods of one path, and a finding that doesn't occur.
import service from "./stryker.config.mjs";

export default {
  ...service,
  mutate: ["infra/app.ts", "infra/stack/**/*.ts"],
  vitest: { configFile: "test/mutation/stack.vitest.ts", related: false },
  // Templates are synthesised while test files load, so every test meets every mutant.
  coverageAnalysis: "off",
  timeoutMS: 60_000,
  thresholds: { high: 95, low: 85, break: 85 },
  jsonReporter: { fileName: "reports/stack-mutation.json" },
};
