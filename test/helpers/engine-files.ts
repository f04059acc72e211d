import { readFileSync } from "node:fs";
import { enginePath, missing } from "../../infra/local/machine/missing.cjs";

const { CI, DYNAMODB_ENDPOINT } = process.env;
const { optionalDependencies } = JSON.parse(
  readFileSync(new URL("../../package.json", import.meta.url), "utf8"),
);
/** Whether the embedded DynamoDB engine is published for this platform. */
const hasEnginePackage = `@dynoxide/${process.platform}-${process.arch}` in optionalDependencies;

/** The files that can use another engine, one at a time: each uses all of its tables. */
const taking = ["test/http/*.test.ts", "test/integration/*-table.test.ts"];

/** The files that need the embedded engine. Those in a folder of `test/local` need none. */
const starting = [
  "test/{admin,bench,local,openapi,protocol,resilience}/*.test.ts",
  "test/integration/!(*-table).test.ts",
  "test/infra/alarms-raised.test.ts",
];

/** The test files that share the engine at DYNAMODB_ENDPOINT. */
export const sharing = DYNAMODB_ENDPOINT ? taking : [];

/** The test files that can't run, for want of an engine. */
export const leftOut =
  enginePath() === undefined ? [...starting, ...(DYNAMODB_ENDPOINT ? [] : taking)] : [];

/**
 * Says last which test files were left out. In CI, and where the engine could be installed, ends
 * the run with 1.
 */
export function reportLeftOut(): void {
  if (leftOut.length === 0) return;
  process.on("exit", () =>
    console.error([missing(), "Not tested, for want of it:", ...leftOut].join("\n  ")),
  );
  if (CI || (hasEnginePackage && !DYNAMODB_ENDPOINT)) process.exit(1);
}
