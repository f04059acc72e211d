import { writeFileSync } from "node:fs";
import { Writable } from "node:stream";
import { describe, expect, test, vi } from "vitest";
import { importOrders } from "../../infra/admin/import-orders.ts";
import type { Target } from "../../infra/admin/target.ts";
import { createOperator } from "../helpers/admin/admin-process.ts";
import { makeLines, sortedLines } from "../helpers/admin/order-file-lines.ts";
import { createTestTables } from "../helpers/admin/test-tables.ts";
import type { Behaviour } from "../helpers/faults/fault-proxy.ts";
import { applied, rejectedAs, unapplied } from "../helpers/faults/faults.ts";

const [tables, operator] = await Promise.all([createTestTables(), createOperator()]);
const orders = (...args: string[]) => operator.run(["orders", ...args, "--local"]);

/** A stream that keeps what is written to it, and first tells `onWrite`. */
function recorder(onWrite: (text: string) => void = () => {}) {
  let text = "";
  const stream = new Writable({
    write: (chunk, _encoding, done) => {
      onWrite(String(chunk));
      text += chunk;
      done();
    },
  });
  return { stream, text: () => text };
}

/** Imports a file in this process; with `onTerminal`, as on a terminal, calling it with all that is printed there. */
async function importFile(path: string, target: Target, onTerminal?: (text: string) => void) {
  const [stdout, stderr] = [recorder(), recorder(onTerminal)];
  const terminal = Object.assign(stderr.stream, { isTTY: onTerminal !== undefined, columns: 100 });
  const file = { name: "orders.ndjson", path };
  const { signal } = new AbortController();
  const whole = await importOrders({ target, file, stdout: stdout.stream, stderr: terminal, json: false, signal });
  return { whole, stdout: stdout.text(), stderr: stderr.text() };
}

/** Points the operator to the tables. After this many writes each further one meets the fault; `failing` is the first. */
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
  test("killed halfway and run again writes the rest, every order once", async () => {
    const lines = makeLines(400);
    const file = await operator.write("orders.ndjson", `${lines.join("\n")}\n`);
    const halfway = await failAfter(200, unapplied["no response"]);
    const running = operator.start(["orders", "import", file, "--local"]);
    await halfway.failing;
    running.kill("SIGKILL");
    expect(await running.ended).toMatchObject({ code: null, stdout: "" });
    // Calls that had passed the proxy reach the table, though no one waits for them any more.
    await vi.waitFor(async () => expect(await tables.items("orders")).toHaveLength(200), { timeout: 60_000 });

    await operator.pointTo(tables);
    const again = await orders("import", file, "--json");
    expect(again.code).toBe(0);
    expect(JSON.parse(again.stdout)).toEqual({
      badLines: [],
      orders: 400,
      written: 200,
      alreadyThere: 200,
      notWritten: 0,
    });
    const exported = await orders("export");
    expect(exported).toMatchObject({ code: 0, stderr: "Exported 400 orders\n" });
    expect(sortedLines(exported.stdout)).toEqual(lines.sort());
  });

  test.each(["SIGINT", "SIGTERM"] as const)(
    "interrupted by %s ends by itself with counts that add up",
    async (signal) => {
      const file = await operator.write("orders.ndjson", makeLines(300).join("\n"));
      const throttled = await failAfter(100, unapplied["throttled by the table"]);
      const running = operator.start(["orders", "import", file, "--local", "--json"], {
        env: { AWS_MAX_ATTEMPTS: "1" },
      });
      await throttled.failing;
      running.kill(signal);
      const { code, stdout, stderr } = await running.ended;
      expect(code).toBe(1);
      expect(JSON.parse(stdout)).toEqual({ badLines: [], orders: 300, written: 100, alreadyThere: 0, notWritten: 200 });
      expect(stderr).toBe("Interrupted. Run it again to write the rest.\n");
      expect(await tables.items("orders")).toHaveLength(100);
    },
  );
});

describe("importing", () => {
  test("never overwrites an order, and so never revives a cancelled one", async () => {
    const cancelled = { id: { N: "1" }, status: { S: "cancelled" }, cancelledBy: { S: "key_1" } };
    await tables.putOrder(cancelled);
    const file = await operator.write("orders.ndjson", '\n{"id":1,"status":"pending"}\r\n\n{"id":2}');
    expect(await importFile(file, tables.target)).toEqual({
      whole: true,
      stdout: "2 orders: 1 written, 1 already there, 0 not written\n",
      stderr: "",
    });
    const items = await tables.items("orders");
    expect(items).toHaveLength(2);
    expect(items).toEqual(expect.arrayContaining([cancelled, { id: { N: "2" }, status: { S: "pending" } }]));
  });

  test("shows on a terminal how much is checked and how much is written", async () => {
    const file = await operator.write("orders.ndjson", makeLines(50).join("\n"));
    const { stderr } = await importFile(file, tables.target, () => {});
    expect(stderr).toMatch(/Checking \[=+\] 100% \| \d+ bytes\/s/);
    expect(stderr).toMatch(/Writing \[=+\] 100% \| \d+ orders\/s/);
  });

  test("clears the terminal's progress bar before it lists bad lines", async () => {
    const file = await operator.write("orders.ndjson", "{\n[]");
    const { stderr } = await importFile(file, tables.target, () => {});
    const clearLine = "\u001b[2K";
    const lines = ["orders.ndjson:1: not JSON", "orders.ndjson:2: not a JSON object", "2 of 2 lines are bad"];
    expect(stderr).toContain(`${clearLine}${lines.join("\n")}`);
  });

  test("fails when the file changes after it was checked", async () => {
    const file = await operator.write("orders.ndjson", '{"id":1}\n{"id":2}\n{"id":3}');
    const { whole, stdout, stderr } = await importFile(file, tables.target, (text) => {
      if (text.includes("Writing")) writeFileSync(file, '{"id":1}\n{"id":2}');
    });
    expect({ whole, stdout }).toEqual({
      whole: false,
      stdout: "3 orders: 2 written, 0 already there, 1 not written\n",
    });
    expect(stderr).toContain(`${file} changed while it was being read: 2 of 3 orders are left. Run it again`);
  });

  test("counts an order as written when only the response is lost", async () => {
    const file = await operator.write("orders.ndjson", '{"id":1}');
    const { target, proxy } = await tables.behindProxy(({ operation, attempt }) =>
      operation === "PutItem" && attempt === 1 ? applied["reset after the engine"] : undefined,
    );
    const { stdout } = await importFile(file, target);
    expect(stdout).toBe("1 order: 1 written, 0 already there, 0 not written\n");
    expect(proxy.attempts.get("PutItem")).toBe(2);
  });

  test("never counts another's order as written, even at a later attempt", async () => {
    await tables.putOrder({ id: { N: "1" }, status: { S: "shipped" } });
    const file = await operator.write("orders.ndjson", '{"id":1}');
    const { target } = await tables.behindProxy(({ attempt }) =>
      attempt === 1 ? unapplied["500 of the service"] : undefined,
    );
    const { stdout } = await importFile(file, target);
    expect(stdout).toBe("1 order: 0 written, 1 already there, 0 not written\n");
  });

  test("interrupted while it checks the file writes nothing", async () => {
    const path = await operator.write("orders.ndjson", '{"id":1}');
    const { stream } = recorder();
    const output = { stdout: stream, stderr: stream, json: false };
    const file = { name: "orders.ndjson", path };
    const importing = importOrders({ target: tables.target, file, ...output, signal: AbortSignal.abort() });
    await expect(importing).rejects.toThrow("Interrupted: nothing was written");
    expect(await tables.items("orders")).toEqual([]);
  });

  test("stops at a failure, with one line and counts that add up", async () => {
    const file = await operator.write("orders.ndjson", makeLines(200).join("\n"));
    let puts = 0;
    const { target } = await tables.behindProxy(({ operation }) =>
      operation === "PutItem" && ++puts > 60
        ? rejectedAs("AccessDeniedException", "not authorized to perform PutItem")
        : undefined,
    );
    expect(await importFile(file, target)).toEqual({
      whole: false,
      stdout: "200 orders: 60 written, 0 already there, 140 not written\n",
      stderr: "AWS denied access: not authorized to perform PutItem. Run it again to write the rest.\n",
    });
  });
});
