import { defineConfig } from "vitest/config";

/** The tests that read templates. Those that run what was synthesised would see no mutant. */
export default defineConfig({
  test: {
    include: [
      "test/infra/{alarms,api,metric-filters,functions,logical-ids,dashboard,idle-cost,environments,options,without-canary}.test.ts",
    ],
    exclude: ["test/infra/{alarms-raised,app,bundles,workflows}.test.ts"],
    // Loading CDK takes longer than all of the tests.
    isolate: false,
    maxWorkers: 1,
    testTimeout: 60_000,
  },
});
