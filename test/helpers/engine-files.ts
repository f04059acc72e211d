import { enginePath, noEngine } from "../../infra/tools/local/engine/engine.ts";
import packageJson from "../../package.json" with { type: "json" };

const { CI, DYNAMODB_ENDPOINT } = process.env;
const enginePackage = `@dynoxide/${process.platform}-${process.arch}`;
const hasEnginePackage = enginePackage in packageJson.optionalDependencies;

/** The test files that can use another engine, one at a time: those of HTTP use all of its tables. */
const usingAnyEngine = ["test/http/*.test.ts", "test/integration/tables.test.ts"];

/** The test files that need the embedded engine. Those in folders of `test/tools/local` need none. */
const usingEmbeddedEngine = [
  "test/{bench,openapi,protocol,resilience,tools/admin,tools/local}/*.test.ts",
  "test/integration/!(tables).test.ts",
  "test/infra/alarms-raised.test.ts",
];

/** The test files that share the engine at DYNAMODB_ENDPOINT. */
export const sharing = DYNAMODB_ENDPOINT ? usingAnyEngine : [];

export const untestedFiles = filesWithoutEngine();

function filesWithoutEngine() {
  if (enginePath() !== undefined) return [];
  if (DYNAMODB_ENDPOINT) return usingEmbeddedEngine;
  return [...usingEmbeddedEngine, ...usingAnyEngine];
}

/** Names the files left out, at the end. Fails in CI and where the engine could be installed. */
export function reportUntestedFiles() {
  if (untestedFiles.length === 0) return;
  process.on("exit", () =>
    console.error([noEngine(), "Not tested without it:", ...untestedFiles].join("\n  ")),
  );
  if (CI || (hasEnginePackage && !DYNAMODB_ENDPOINT)) process.exit(1);
}
