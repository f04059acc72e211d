import { defineConfig } from "vitest/config";
import { leftOut, sharing } from "./test/helpers/engine-files.ts";
import { testEnvironment } from "./test/helpers/test-environment.ts";

const exclude = [...leftOut, ...sharing];

const common = {
  // Other files start an engine of their own.
  env: { ...testEnvironment, DYNAMODB_ENDPOINT: "" },
  // Concurrent tests mostly wait for the time limits of what they test.
  maxConcurrency: 16,
  // Bounds for what hangs, far above what anything takes on a busy machine.
  testTimeout: 120_000,
  hookTimeout: 120_000,
  expect: { poll: { timeout: 60_000 } },
  setupFiles: "test/helpers/unstub.ts",
  unstubEnvs: true,
  unstubGlobals: true,
};

const tests = "/**/*.test.ts";
const infra = `test/infra${tests}`;
// Their tests load handlers, or put something in the place of the SDK, the console or the clock; and an earlier JSON.parse
// can mislead that of the smoke test (https://github.com/nodejs/node/issues/63785).
const isolated = `test/{unit,integration,smoke}${tests}`;

export default defineConfig({
  test: {
    globalSetup: "test/helpers/assembly.ts",
    // Most test files wait for processes and time limits more than they compute.
    maxWorkers: 3,
    // Handlers warn about it where a test loads them and there is no table.
    onConsoleLog: (text) => !text.includes("not_ready"),
    projects: [
      { test: { ...common, name: "isolated", include: [isolated], exclude, pool: "threads" } },
      // These leave their process as they found it, so the next file can use it.
      {
        test: {
          ...common,
          name: "service",
          include: [`test${tests}`],
          exclude: [infra, isolated, ...exclude],
          isolate: false,
        },
      },
      // These only read templates, and loading CDK takes longer than most of them, so a worker loads it once.
      {
        test: {
          ...common,
          name: "infra",
          include: [infra],
          exclude,
          isolate: false,
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
