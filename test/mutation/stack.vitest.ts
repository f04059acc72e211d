import { defineConfig } from "vitest/config";

/** The tests that read templates. Those that run what was synthesised would meet no mutant. */
export default defineConfig({
  test: {
    include: ["test/infra/*.test.ts"],
    exclude: ["test/infra/{alarms-raised,bundles}.test.ts"],
    // Templates that one mutant's run keeps would hide the next mutant.
    isolate: true,
    maxWorkers: 1,
    setupFiles: "test/helpers/each-file.ts",
    unstubEnvs: true,
    testTimeout: 60_000,
  },
});
