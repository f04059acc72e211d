// `npm run mutation:tools`, part of `npm run mutation`: the tools of operators and of the local
// stack's gateway. It takes more than an hour. These survive, and why:
//
// Caught by tests that start a process, which can't run mutants: what a signal does, prompts,
// standard input and output, a path that is no file, and what the local stack reads of a template.
// Caught over HTTP (resilience/fuzz): the unread rest of a rejected request.
//
// No test can tell the difference: what Node always sets; timers and signals of requests that have
// ended; a client closed as the process ends; `?.` and `?? ""` for what the SDK or TypeScript only
// declares optional; the order of equal things, and the size of the blocks that a file is read in.
//
// Only people see it: the names of arguments in the help.
import service from "./stryker.config.mjs";

export default {
  ...service,
  mutate: [
    "infra/tools/admin/**/*.ts",
    "infra/tools/orders-file/**/*.ts",
    "infra/tools/smoke/**/*.ts",
    "infra/tools/terminal/**/*.ts",
    "infra/tools/local/template/**/*.ts",
    "infra/tools/local/gateway/**/*.ts",
    // They only start a process.
    "!infra/tools/{petstore,local/template/synth-process}.ts",
  ],
  // Operators' tests change the folder, which a thread can't.
  vitest: { configFile: "test/mutation/tools.vitest.ts", related: false, pool: "forks" },
  // Mutants that run while a file loads would meet every test.
  ignoreStatic: true,
  thresholds: { high: 95, low: 85, break: 85 },
  jsonReporter: { fileName: "reports/tools-mutation.json" },
};
