import { defineConfig } from "vitest/config";
import { sharing, untestedFiles } from "./test/helpers/engine-files.ts";
import { testEnvironment } from "./test/helpers/test-environment.ts";

const common = {
  // Each file leaves its process as it found it, so the next one can use what it has loaded.
  isolate: false,
  // Other files start an engine of their own.
  env: { ...testEnvironment, DYNAMODB_ENDPOINT: "" },
  // Concurrent tests mostly wait for the time limits of what they test.
  maxConcurrency: 16,
  // Bounds for what hangs, far above what anything takes on a busy machine.
  testTimeout: 120_000,
  hookTimeout: 120_000,
  // Short enough for a plain fault to be red within a minute, in a file with several.
  expect: { poll: { timeout: 15_000 }, requireAssertions: true },
  // Node.js runs the sources itself, as it does for every command; no test mocks a module.
  experimental: { viteModuleRunner: false, nodeLoader: false },
  // The workers keep every core busy: threads that collect garbage for them only cost more.
  execArgv: ["--single-threaded-gc"],
  setupFiles: "test/helpers/each-file.ts",
  unstubEnvs: true,
  unstubGlobals: true,
};

export default defineConfig({
  test: {
    globalSetup: "test/helpers/assembly.ts",
    // Each worker loads CDK, the SDK and esbuild once more.
    maxWorkers: 2,
    // Handlers warn about it where a test loads them and there is no table.
    onConsoleLog: (text) => !text.includes("not_ready"),
    projects: [
      {
        test: {
          ...common,
          name: "service",
          include: ["test/**/*.test.ts"],
          exclude: [...untestedFiles, ...sharing],
        },
      },
      ...(sharing.length === 0
        ? []
        : [
            {
              test: {
                ...common,
                name: "the engine at DYNAMODB_ENDPOINT",
                include: sharing,
                env: testEnvironment,
                maxWorkers: 1,
                sequence: { groupOrder: 1 },
              },
            },
          ]),
    ],
  },
});
