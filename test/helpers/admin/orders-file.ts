import { PassThrough } from "node:stream";
import { importOrders } from "../../../infra/admin/import-orders.ts";
import { TableCalls } from "../../../infra/admin/table-calls.ts";
import type { Target } from "../../../infra/admin/target.ts";

/** Ends a bar: the start of the line, which is then erased. */
export const clearedLine = "\u001b[1G\u001b[2K";

/** Imports a file in this process, as on a terminal if it says so, and gives all that is printed there. */
export async function importFile(path: string, target: Target, { check = false, isTTY = false } = {}) {
  const terminal = Object.assign(new PassThrough({ encoding: "utf8" }), { isTTY, columns: 100 });
  const { signal } = new AbortController();
  const file = { name: "orders.ndjson", path };
  const calls = new TableCalls(target.client);
  const result = await importOrders(target.ordersTable, file, calls, check, terminal, signal);
  return { ...result, terminal: String(terminal.read() ?? "") };
}

/** This many lines of an orders file, in the form an export writes. */
export function makeLines(count: number): string[] {
  const statuses = ["pending", "shipped", "cancelled"];
  return Array.from({ length: count }, (_, at) => {
    const rest = `"petId":${at},"shipDate":"2026-12-01T09:00:00Z","complete":${at % 2 === 0}`;
    return `{"id":${at * 7},${rest},"status":"${statuses[at % 3]}"}`;
  });
}

/** The lines of an orders file, sorted: a table has no order. */
export const sortedLines = (ndjson: string) => ndjson.trimEnd().split("\n").sort();
