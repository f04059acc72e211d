import { defineConfig } from "vitest/config";

/** The tests that read templates. Those that run what was synthesised would meet no mutant. */
export default defineConfig({
  test: {
    include: ["test/infra/*.test.ts"],
    exclude: ["test/infra/{alarms-raised,bundles}.test.ts"],
    // Loading CDK takes longer than all of the tests.
    isolate: false,
    maxWorkers: 1,
    unstubEnvs: true,
    testTimeout: 60_000,
  },
});
