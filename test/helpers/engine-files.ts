import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { enginePath, missing } from "../../infra/local/machine/missing.cjs";

// Which test files need a DynamoDB engine is seen from what they, or helpers of theirs, start.
const root = join(import.meta.dirname, "../..");
const { CI, DYNAMODB_ENDPOINT } = process.env;
const { optionalDependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
/** Whether the embedded DynamoDB engine is published for this platform. */
const hasEnginePackage = `@dynoxide/${process.platform}-${process.arch}` in optionalDependencies;

const takesEngine = (text: string): boolean => /\buseExternalEngine\(/.test(text);
const startsEngine = (text: string): boolean =>
  /\bstart(?:Engine|LocalStack)\(|"infra\/local\/start\.ts"/.test(text) && !takesEngine(text);

const files = globSync("test/**/*.test.ts", { cwd: root }).sort();
const starting = files.filter((file) => reaches(file, startsEngine));
const taking = files.filter((file) => !starting.includes(file) && reaches(file, takesEngine));

/** The test files that share the engine at DYNAMODB_ENDPOINT, one at a time: each uses all of its tables. */
export const sharing = DYNAMODB_ENDPOINT ? taking : [];

/** The test files that can't run, for want of an engine. */
export const leftOut = enginePath() === undefined ? [...starting, ...(DYNAMODB_ENDPOINT ? [] : taking)] : [];

/** Says last which test files were left out. In CI, and where the engine could be installed, ends the run with 1. */
export function reportLeftOut(): void {
  if (leftOut.length === 0) return;
  process.on("exit", () => console.error([missing(), "Not tested, for want of it:", ...leftOut].join("\n  ")));
  if (CI || (hasEnginePackage && !DYNAMODB_ENDPOINT)) process.exit(1);
}

/** Whether a file of the tests, or one that it imports, is like this. */
function reaches(file: string, like: (text: string) => boolean, seen = new Set<string>()): boolean {
  if (seen.has(file) || !file.startsWith("test/")) return false;
  seen.add(file);
  const text = readFileSync(join(root, file), "utf8");
  const imports = [...text.matchAll(/ from "(\.[^"]+)"/g)].map(([, path = ""]) => path);
  return like(text) || imports.some((path) => reaches(join(dirname(file), path), like, seen));
}
