import { mkdtemp, readdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import type { Behaviour } from "../helpers/faults/fault-proxy.ts";
import { unapplied } from "../helpers/faults/faults.ts";
import { createTestTables } from "../helpers/test-tables.ts";
import { createOperator } from "./admin-process.ts";
import { runHere } from "./command-here.ts";
import { makeLines, sortedLines } from "./orders-file.ts";

const [tables, operator] = await Promise.all([createTestTables(), createOperator()]);
const orders = (...args: string[]) => runHere(tables, ["orders", ...args]);

/**
 * Points the operator to the tables. Every write after so many meets the fault; `failing` resolves
 * at the first.
 */
async function failAfter(writes: number, fault: Behaviour): Promise<{ failing: Promise<void> }> {
  const { promise: failing, resolve } = Promise.withResolvers<void>();
  let puts = 0;
  const { proxy } = await tables.behindProxy(({ operation }) => {
    if (operation !== "PutItem" || ++puts <= writes) return undefined;
    resolve();
    return fault;
  });
  await operator.pointTo({ ...tables, dynamodbEndpoint: proxy.endpoint });
  return { failing };
}

describe("orders import, as a process", () => {
  test("writes only the missing orders when run again after a kill", async () => {
    const lines = makeLines(400);
    const file = await operator.write("orders.ndjson", `${lines.join("\n")}\n`);
    const halfway = await failAfter(200, unapplied["no response"]);
    const running = operator.start(["orders", "import", file, "--local"]);
    await halfway.failing;
    running.kill("SIGKILL");
    expect(await running.ended).toMatchObject({ code: null, stdout: "" });
    // Calls that had passed the proxy reach the table, though no one waits for them any more.
    await vi.waitFor(async () => expect(await tables.items("orders")).toHaveLength(200), {
      timeout: 60_000,
    });

    const again = await orders("import", file, "--json");
    expect(again.code).toBe(0);
    expect(JSON.parse(again.stdout)).toMatchObject({
      orders: 400,
      written: 200,
      alreadyThere: 200,
      different: 0,
    });
    const exported = await orders("export");
    expect(exported).toMatchObject({ code: 0, stderr: "Exported 400 orders\n" });
    expect(sortedLines(exported.stdout)).toEqual(lines.sort());
  });

  test("prints counts that add up when it is interrupted", async () => {
    const file = await operator.write("orders.ndjson", makeLines(300).join("\n"));
    const throttled = await failAfter(100, unapplied["throttled by the table"]);
    const running = operator.start(["orders", "import", file, "--local", "--json"], {
      env: { AWS_MAX_ATTEMPTS: "1" },
    });
    await throttled.failing;
    // The same happens at SIGHUP, which interrupts an export in its tests, and at SIGINT, as below.
    running.kill("SIGTERM");
    const { code, stdout, stderr } = await running.ended;
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toEqual({
      badLines: [],
      orders: 300,
      written: 100,
      alreadyThere: 0,
      notWritten: 200,
      different: 0,
      differing: [],
    });
    expect(stderr).toBe("Interrupted. Run it again to write the rest.\n");
    expect(await tables.items("orders")).toHaveLength(100);
  });
});

describe("orders import from standard input", () => {
  const run = (input: string) => runHere(tables, ["orders", "import"], { input });

  test("writes its orders", async () => {
    expect(await run('{"id":1}\n{"id":2}\n')).toEqual({
      code: 0,
      stdout: "2 orders: 2 written, 0 already there, 0 different, 0 not written\n",
      stderr: "",
    });
    expect(await tables.items("orders")).toHaveLength(2);
  });

  test("writes nothing when a line is bad", async () => {
    expect(await run('{"id":1}\n{"id":2,}\n')).toEqual({
      code: 1,
      stdout: "",
      stderr: expect.stringMatching(
        /^standard input:2: not JSON: .* column 9\)\n1 of 2 lines is bad: nothing was written\n$/,
      ),
    });
    expect(await tables.items("orders")).toEqual([]);
  });

  test.each(['{"id":1}\n', '{"id":2,}\n'])("removes its copy of %j", async (input) => {
    const folder = await mkdtemp(join(operator.folder, "tmp-"));
    vi.stubEnv("TMPDIR", folder);
    await run(input);
    expect(await readdir(folder)).toEqual([]);
  });

  test("removes its copy when it is interrupted", async () => {
    await operator.pointTo(tables);
    const tmp = await mkdtemp(join(operator.folder, "tmp-"));
    const running = operator.start(["orders", "import", "--local"], {
      input: null,
      env: { TMPDIR: tmp },
    });
    await vi.waitFor(async () => expect(await readdir(tmp)).toHaveLength(1), { timeout: 20_000 });
    running.kill("SIGINT");
    expect(await running.ended).toEqual({ code: 1, stdout: "", stderr: "Interrupted\n" });
    expect(await readdir(tmp)).toEqual([]);
  });
});

test("Ctrl-C again ends an import that is waiting for its writes", async () => {
  const begun = Promise.withResolvers<void>();
  const { proxy } = await tables.behindProxy(({ operation }) =>
    operation === "PutItem" ? () => begun.resolve() : undefined,
  );
  await operator.pointTo({ ...tables, dynamodbEndpoint: proxy.endpoint });
  const running = operator.start(["orders", "import", "--local"], { input: '{"id":1}' });
  await begun.promise;
  let ended: object | undefined;
  running.ended.then((result) => {
    ended = result;
  });
  let signals = 0;
  // Two signals at once may arrive as one.
  const interruptUntilEnded = () => {
    if (ended === undefined) {
      running.kill("SIGINT");
      signals++;
    }
    return ended;
  };
  await expect.poll(interruptUntilEnded).toMatchObject({ code: null, stdout: "" });
  expect(signals).toBeGreaterThan(1);
});

describe("orders import of a bad file", () => {
  const badLines = '{"id":4}\n{"id":1\n{"id":4}';
  const syntaxError =
    "Expected ',' or '}' after property value in JSON at position 7 (line 1 column 8)";

  test("names every bad line on standard error", async () => {
    const file = await operator.write("bad.ndjson", badLines);
    expect(await orders("import", file)).toEqual({
      code: 1,
      stdout: "",
      stderr: [
        `${file}:2: not JSON: ${syntaxError}`,
        `${file}:3: id 4 is already on line 1`,
        "2 of 3 lines are bad: nothing was written\n",
      ].join("\n"),
    });
  });

  test("lists every bad line in its JSON", async () => {
    const file = await operator.write("bad.ndjson", badLines);
    const { code, stdout } = await orders("import", file, "--json");
    expect(code).toBe(1);
    const problems = [expect.any(String)];
    expect(JSON.parse(stdout)).toEqual({
      badLines: [
        expect.objectContaining({ line: 2, problems }),
        expect.objectContaining({ line: 3, problems }),
      ],
      bad: 2,
      orders: 3,
      written: 0,
      alreadyThere: 0,
      notWritten: 3,
    });
  });

  test("writes nothing", async () => {
    await orders("import", await operator.write("bad.ndjson", badLines));
    expect(await tables.items("orders")).toEqual([]);
  });

  test.each([
    ["is a folder", "", " is a folder"],
    ["does not exist", "/none", "/none: no such file or directory"],
  ])("fails for a path that %s", async (_, path, problem) => {
    const { folder } = operator;
    expect(await orders("import", `${folder}${path}`)).toEqual({
      code: 1,
      stdout: "",
      stderr: `${folder}${problem}\n`,
    });
  });
});
