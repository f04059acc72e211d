import { Writable } from "node:stream";
import { importOrders } from "../../../infra/admin/import-orders.ts";
import { TableCalls } from "../../../infra/admin/table-calls.ts";
import type { Target } from "../../../infra/admin/target.ts";

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

/** Ends a bar: the start of the line, which is then erased. */
export const clearedLine = "\u001b[1G\u001b[2K";

interface ImportOptions {
  check?: boolean;
  /** Imports as on a terminal, and gets all that is printed there. */
  onTerminal?: (text: string) => void;
}

/** Imports a file in this process. */
export async function importFile(path: string, target: Target, { check = false, onTerminal }: ImportOptions = {}) {
  const { stream, text } = recorder(onTerminal);
  const terminal = Object.assign(stream, { isTTY: onTerminal !== undefined, columns: 100 });
  const { signal } = new AbortController();
  const file = { name: "orders.ndjson", path };
  const calls = new TableCalls(target.client);
  const result = await importOrders(target.ordersTable, file, calls, check, terminal, signal);
  return { ...result, terminal: text() };
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
