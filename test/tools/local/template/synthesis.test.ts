import { expect, test, vi } from "vitest";
import { synthesiseStaging } from "../../../../infra/tools/local/template/synthesis.ts";

async function synthesiseAfter(code: string) {
  vi.stubEnv("NODE_OPTIONS", `--import=data:text/javascript,${encodeURIComponent(code)}`);
  return await synthesiseStaging("/dev/null/nowhere", AbortSignal.timeout(100_000));
}

test("an unknown setting fails the synthesis with one line that names it", async () => {
  const settings = new URL("../../../../infra/environments.ts", import.meta.url).href;
  const mistake = `import { environments } from "${settings}";
    environments.staging.listConcurency = 20;`;
  await expect(synthesiseAfter(mistake)).rejects.toMatchObject({
    name: "CommandError",
    message:
      "The stack can't be synthesised: environments.staging has no setting listConcurency",
  });
});

test("a stack that can't be synthesised says what esbuild found, and nothing else", async () => {
  const found =
    "✘ [ERROR] Unexpected undefined\n\n    shared/errors.ts:1:6\n\n" +
    "✘ [ERROR] Unexpected ;\n\n    shared/errors.ts:2:1";
  const output = `Debugger attached.\n${found}\n\nnode:internal/main:1\n    ^\n`;
  // It inherits no variables of CDK's.
  vi.stubEnv("CDK_VALIDATION", "false");
  const printed = JSON.stringify(output).replace(
    "undefined",
    '" + process.env.CDK_VALIDATION + "',
  );
  const failing = `console.error(${printed}); process.exit(1)`;
  await expect(synthesiseAfter(failing)).rejects.toMatchObject({
    name: "CommandError",
    message: `The stack can't be synthesised: ${found}`,
  });
});

test("a synthesis on a full disk names the folder, and how to choose another", async () => {
  const failing = 'console.error("write x: no space left on device"); process.exit(1)';
  await expect(synthesiseAfter(failing)).rejects.toThrow(
    "The stack can't be synthesised: no space left in /dev/null/nowhere. Set TMPDIR to a folder with 10 MB",
  );
});

test("an interrupted synthesis fails with the interruption", async () => {
  const interrupted = new Error("interrupted");
  await expect(
    synthesiseStaging("/dev/null/nowhere", AbortSignal.abort(interrupted)),
  ).rejects.toBe(interrupted);
});
