// `npm run mutation:tools`, part of `npm run mutation`: the tools of operators and of the local
// stack's gateway. Its folders were last run one by one: infra/admin in 17 minutes, 93.6 % of 1,490
// changes killed; infra/orders-file, infra/smoke and infra/local/template together in 14 minutes, 91.6 %
// of 1,201; infra/local/gateway in 12 minutes, with `--timeoutMS 5000`, 90.6 % of 360. These
// survive, and why:
//
// Caught by tests that start a process, which can't run mutants:
// - command.ts: what a signal does.
// - input.ts: the prompt.
// - ship-orders.ts, import-orders.ts: standard input, and a path that is no file.
// - export-orders.ts: standard output, and what a signal leaves behind.
// - checks.ts: a compressed list of over 100,000 characters (smoke/main).
// - template, other than intrinsics.ts: what the local stack's own tests read from it.
// - gateway, over HTTP (http/gateway, resilience/fuzz): the largest body, no parameters in a path,
//   what is left of a request, 204 without a length.
//
// No test can tell the difference:
// - gateway: what Node always sets; timers and signals of requests that have ended; an authorizer
//   that streams fails either way.
// - `?.` and `?? ""` for what the SDK or TypeScript only declares optional; anchors of the names of
//   AWS's errors.
// - command.ts: `target.client.destroy()`: the process ends either way.
// - api-keys.ts: `<=`: ids differ.
// - attribute-json.ts: sorting a list of attributes, which are objects and so equal to sort; null
//   is never an attribute.
// - orders-file.ts: reading in smaller blocks.
// - import-orders.ts: the key that stands for an order without one is only looked at when there is
//   one.
//
// Only people see it:
// - command.ts, order-commands.ts, key-commands.ts: the names of arguments in the help.
// - compare-orders.ts: `Comparing`.
import service from "./stryker.config.mjs";

export default {
  ...service,
  mutate: [
    "infra/admin/**/*.ts",
    "infra/orders-file/**/*.ts",
    "infra/smoke/**/*.ts",
    "infra/terminal/**/*.ts",
    "infra/local/template/**/*.ts",
    "infra/local/gateway/**/*.ts",
    // They only start a process.
    "!infra/{admin/admin,smoke/main,local/template/synth}.ts",
  ],
  vitest: { configFile: "test/mutation/tools.vitest.ts", related: false },
  // Mutants that run while a file loads would meet every test.
  ignoreStatic: true,
  thresholds: { high: 95, low: 85, break: 85 },
  jsonReporter: { fileName: "reports/tools-mutation.json" },
};
