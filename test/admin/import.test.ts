import { writeFileSync } from "node:fs";
import { mkdtemp, readdir } from "node:fs/promises";
import { join } from "node:path";
import { Writable } from "node:stream";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { importOrders } from "../../infra/admin/import-orders.ts";
import { TableCalls } from "../../infra/admin/table-calls.ts";
import type { Target } from "../../infra/admin/target.ts";
import type { OrderItem } from "../../shared/order.ts";
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

interface ImportOptions {
  check?: boolean;
  /** Imports as on a terminal, and gets all that is printed there. */
  onTerminal?: (text: string) => void;
}

/** Imports a file in this process. */
async function importFile(path: string, target: Target, { check = false, onTerminal }: ImportOptions = {}) {
  const { stream, text } = recorder(onTerminal);
  const terminal = Object.assign(stream, { isTTY: onTerminal !== undefined, columns: 100 });
  const { signal } = new AbortController();
  const file = { name: "orders.ndjson", path };
  const calls = new TableCalls(target.client);
  const result = await importOrders(target.ordersTable, file, calls, check, terminal, signal);
  return { ...result, terminal: text() };
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
    expect(JSON.parse(again.stdout)).toMatchObject({ orders: 400, written: 200, alreadyThere: 200, differ: 0 });
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
      expect(JSON.parse(stdout)).toEqual({
        badLines: [],
        orders: 300,
        written: 100,
        alreadyThere: 0,
        notWritten: 200,
        differ: 0,
        differing: [],
      });
      expect(stderr).toBe("Interrupted. Run it again to write the rest.\n");
      expect(await tables.items("orders")).toHaveLength(100);
    },
  );
});

describe("orders import of standard input", () => {
  /** Imports this with a folder for temporary files that should be empty afterwards. */
  const importInput = async (input: string, ...args: string[]) => {
    await operator.pointTo(tables);
    const tmp = await mkdtemp(join(operator.folder, "tmp-"));
    const ended = await operator.run(["orders", "import", ...args, "--local"], { input, env: { TMPDIR: tmp } });
    expect(await readdir(tmp)).toEqual([]);
    return ended;
  };

  test("writes its orders, and removes its copy", async () => {
    expect(await importInput('{"id":1}\n{"id":2}\n')).toEqual({
      code: 0,
      stdout: "2 orders: 2 written, 0 already there, 0 not written\n",
      stderr: "",
    });
    expect(await tables.items("orders")).toHaveLength(2);
  });

  test("checks it first", async () => {
    expect(await importInput('{"id":1}\n{"id":2,}\n', "-")).toEqual({
      code: 1,
      stdout: "",
      stderr: "standard input:2:9: not JSON\n1 of 2 lines are bad: nothing was written\n",
    });
    expect(await tables.items("orders")).toEqual([]);
  });

  test("that is interrupted removes its copy", async () => {
    await operator.pointTo(tables);
    const tmp = await mkdtemp(join(operator.folder, "tmp-"));
    const running = operator.start(["orders", "import", "--local"], { input: null, env: { TMPDIR: tmp } });
    await vi.waitFor(async () => expect(await readdir(tmp)).toHaveLength(1), { timeout: 20_000 });
    running.kill("SIGINT");
    expect(await running.ended).toEqual({ code: 1, stdout: "", stderr: "Interrupted\n" });
    expect(await readdir(tmp)).toEqual([]);
  });
});

test("a second signal ends an import that waits for what it has begun", async () => {
  const begun = Promise.withResolvers<void>();
  const { proxy } = await tables.behindProxy(({ operation }) =>
    operation === "PutItem" ? () => begun.resolve() : undefined,
  );
  await operator.pointTo({ ...tables, dynamodbEndpoint: proxy.endpoint });
  const running = operator.start(["orders", "import", "--local"], { input: '{"id":1}' });
  await begun.promise;
  // Two signals at once may arrive as one.
  const signals = setInterval(() => running.kill("SIGINT"), 50);
  onTestFinished(() => clearInterval(signals));
  expect(await running.ended).toMatchObject({ code: null, stdout: "" });
});

describe("importing", () => {
  test("never overwrites an order, and so never revives a cancelled one", async () => {
    const cancelled = { id: { N: "1" }, status: { S: "cancelled" }, cancelledBy: { S: "key_1" } };
    await tables.putOrder(cancelled);
    const file = await operator.write("orders.ndjson", '\n{"id":1,"status":"pending"}\r\n\n{"id":2}');
    expect(await importFile(file, tables.target)).toMatchObject({
      rejected: false,
      text: "2 orders: 1 written, 1 already there, 0 not written",
    });
    const items = await tables.items("orders");
    expect(items).toHaveLength(2);
    expect(items).toEqual(expect.arrayContaining([cancelled, { id: { N: "2" }, status: { S: "pending" } }]));
  });

  test("shows on a terminal how much is checked and how much is written", async () => {
    const file = await operator.write("orders.ndjson", makeLines(50).join("\n"));
    const { terminal } = await importFile(file, tables.target, { onTerminal: () => {} });
    expect(terminal).toMatch(/Checking 100% \[=+\] \d+ bytes\/s/);
    expect(terminal).toMatch(/Writing 100% \[=+\] \d+ orders\/s/);
  });

  test("reports the orders that are there but differ, and leaves them", async () => {
    const there: OrderItem[] = [
      { id: { N: "1" }, status: { S: "shipped" }, petId: { N: "7" }, photo: { B: new Uint8Array([1]) } },
      {
        id: { N: "2" },
        status: { S: "pending" },
        tags: { SS: ["b", "a"] },
        box: { M: { x: { N: "1" }, y: { S: "" } } },
      },
      ...Array.from({ length: 22 }, (_, at) => ({ id: { N: String(at + 10) }, status: { S: "cancelled" } })),
    ];
    for (const item of there) await tables.putOrder(item);
    const lines = [
      '{"id":1,"petId":8,"otherAttributes":{"photo":{"B":"Ag=="},"colour\\u001b":{"S":"red"}}}',
      '{"id":2,"otherAttributes":{"tags":{"SS":["a","b"]},"box":{"M":{"y":{"S":""},"x":{"N":"1"}}}}}',
      ...Array.from({ length: 22 }, (_, at) => `{"id":${at + 10}}`),
    ];
    const file = await operator.write("orders.ndjson", lines.join("\n"));
    const { text, note, json, rejected } = await importFile(file, tables.target);
    expect({ text, rejected }).toEqual({
      text: "24 orders: 0 written, 24 already there, 0 not written",
      rejected: false,
    });
    const notes = note?.split("\n") ?? [];
    expect(notes).toHaveLength(1 + 20 + 1);
    expect(notes).toContain(String.raw`Order 1 in the table differs: colour\u{1b}, petId, photo, status`);
    expect(notes.filter((line) => /^Order \d\d in the table differs: status$/.test(line))).toHaveLength(20);
    expect(notes.at(-1)).toBe("and 2 more: status");
    expect(json).toMatchObject({ differ: 23, differing: { length: 21 } });
    const after = await tables.items("orders");
    expect(after).toHaveLength(there.length);
    expect(after).toEqual(expect.arrayContaining(there));
  });

  test("only to be checked compares, and writes nothing", async () => {
    await tables.putOrder({ id: { N: "1" }, status: { S: "shipped" } });
    const file = await operator.write("orders.ndjson", '{"id":1}\n{"id":2}');
    const { target, proxy } = await tables.behindProxy(() => undefined);
    expect(await importFile(file, target, { check: true })).toMatchObject({
      text: "2 orders: 0 written, 1 already there, 1 not written",
      note: "Order 1 in the table differs: status",
      json: { differing: [{ id: 1n, fields: ["status"] }] },
      rejected: false,
    });
    expect([...proxy.attempts.keys()]).toEqual(["GetItem"]);
  });

  test("fails when the file changes after it was checked", async () => {
    const file = await operator.write("orders.ndjson", '{"id":1}\n{"id":2}\n{"id":3}');
    const onTerminal = (text: string) => {
      if (text.includes("Writing")) writeFileSync(file, '{"id":1}\n{"id":2}');
    };
    expect(await importFile(file, tables.target, { onTerminal })).toMatchObject({
      rejected: true,
      text: "3 orders: 2 written, 0 already there, 1 not written",
      note: expect.stringContaining(
        "orders.ndjson changed while it was being read: 2 of 3 orders are left. Run it again",
      ),
    });
  });

  test("counts an order as written when only the response is lost", async () => {
    const file = await operator.write("orders.ndjson", '{"id":1}');
    const { target, proxy } = await tables.behindProxy(({ operation, attempt }) =>
      operation === "PutItem" && attempt === 1 ? applied["reset after the engine"] : undefined,
    );
    const { text } = await importFile(file, target);
    expect(text).toBe("1 order: 1 written, 0 already there, 0 not written");
    expect(proxy.attempts.get("PutItem")).toBe(2);
  });

  test("never counts another's order as written, even at a later attempt", async () => {
    await tables.putOrder({ id: { N: "1" }, status: { S: "shipped" } });
    const file = await operator.write("orders.ndjson", '{"id":1}');
    const { target } = await tables.behindProxy(({ attempt }) =>
      attempt === 1 ? unapplied["500 of the service"] : undefined,
    );
    const { text } = await importFile(file, target);
    expect(text).toBe("1 order: 0 written, 1 already there, 0 not written");
  });

  test("interrupted while it checks the file writes nothing", async () => {
    const path = await operator.write("orders.ndjson", '{"id":1}');
    const { stream: terminal } = recorder();
    const file = { name: "orders.ndjson", path };
    const calls = new TableCalls(tables.client);
    const importing = importOrders(tables.tables.orders, file, calls, false, terminal, AbortSignal.abort());
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
    expect(await importFile(file, target)).toMatchObject({
      rejected: true,
      text: "200 orders: 60 written, 0 already there, 140 not written",
      note: "AWS denied access: not authorized to perform PutItem. Run it again to write the rest.",
    });
  });
});
