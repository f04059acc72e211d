import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { describe, expect, test } from "vitest";

const isMissing = `import Module from "node:module"; const resolve = Module._resolveFilename;
  Module._resolveFilename = (name, ...rest) => resolve(name.replace("@dynoxide", "@missing"), ...rest);`;
const isNotPublished = `Object.defineProperty(process, "arch", { value: "riscv64" });`;

/** Has a run of the tests begin on such a machine. */
async function begin(machine: string, environment: Record<string, string> = {}) {
  const code = `${machine}
    const { reportLeftOut, sharing } = await import("./test/helpers/engine-files.ts");
    reportLeftOut();
    console.log(JSON.stringify(sharing));`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", code], {
    env: { PATH: process.env["PATH"], ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [stdout, stderr, [exitCode]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "exit")]);
  const leftOut = stderr.split("\n").flatMap((line) => /^ {2}(test\/.*\.test\.ts)$/.exec(line)?.[1] ?? []);
  return { exitCode, sharing: stdout === "" ? undefined : JSON.parse(stdout), stderr, leftOut };
}

const embedded = ["test/admin/keys.test.ts", "test/local/start.test.ts", "test/resilience/races.test.ts"];
const either = ["test/http/gateway.test.ts", "test/integration/orders-table.test.ts"];
const DYNAMODB_ENDPOINT = "http://localhost:8000";

describe.concurrent("the tests", () => {
  test("leave nothing out where the engine is installed", async () => {
    expect(await begin("")).toEqual({ exitCode: 0, sharing: [], stderr: "", leftOut: [] });
  });

  test("leave out what needs an engine where there is none, and say so", async () => {
    const { exitCode, leftOut, stderr } = await begin(isNotPublished);
    expect(exitCode).toBe(0);
    expect(leftOut).toEqual(expect.arrayContaining([...embedded, ...either]));
    expect(leftOut.filter((file) => /^test\/(?:unit|template|workflows|smoke|orders-file)\//.test(file))).toEqual([]);
    expect(stderr).toMatch(/^This machine \(\w+-riscv64\) lacks\n- a DynamoDB engine/);
  });

  test.each([isNotPublished, isMissing])("use the engine at DYNAMODB_ENDPOINT where they can", async (machine) => {
    const { exitCode, sharing, leftOut } = await begin(machine, { DYNAMODB_ENDPOINT });
    expect(exitCode).toBe(0);
    expect(sharing).toEqual(expect.arrayContaining(either));
    expect(leftOut).toEqual(expect.arrayContaining(embedded));
    expect(leftOut.filter((file) => sharing.includes(file))).toEqual([]);
  });

  test.each([
    ["in CI", isNotPublished, { CI: "true" }],
    ["in CI, whatever DYNAMODB_ENDPOINT says", isMissing, { CI: "true", DYNAMODB_ENDPOINT }],
    ["where the engine could be installed", isMissing, {}],
  ])("fail for want of the engine %s", async (_, machine, environment) => {
    expect(await begin(machine, environment)).toMatchObject({ exitCode: 1, sharing: undefined });
  });
});
