import { stat } from "node:fs/promises";
import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import type { OrderItem } from "../../../shared/order.ts";
import { differingAttributes, plainValue } from "../orders-file/attributes.ts";
import {
  BadLinesError,
  type CheckedOrders,
  checkOrders,
  Findings,
  fileReport,
} from "../orders-file/orders-file.ts";
import { CommandError } from "../terminal/errors.ts";
import { inputName } from "../terminal/input.ts";
import { counted, countsText, jsonText } from "../terminal/text.ts";
import { type ImportRecord, startRecord } from "./import-record.ts";
import { startProgress } from "./progress.ts";
import type { Result, Session } from "./session.ts";
import type { TableCalls } from "./table-calls.ts";
import { undoImport } from "./undo-import.ts";
import { workThrough } from "./work-through.ts";

/** The longest value that is shown whole, in characters. */
const longestValue = 60;

/** An order, and its line in the file, from 1. */
interface Line {
  line: number;
  item: OrderItem;
}

interface ImportOptions {
  /** Only compares the file with the table. */
  check?: boolean;
  /** The file in which to record what is written. */
  record?: string;
  /** The record of an import to undo instead, and whether not to ask. */
  undo?: string;
  yes?: boolean;
}

/**
 * Imports an orders file, or standard input, or undoes an import. Ctrl-C interrupts it. A file with
 * a bad line, or without orders, is rejected as a whole.
 */
export async function importOrders(
  session: Session,
  name: string,
  { check = false, record: recordName, undo, yes = false }: ImportOptions,
): Promise<Result> {
  if (undo !== undefined) return await undoImport(session, undo, yes);
  const signal = session.interruptible();
  try {
    using orders = await checkFile(name, signal);
    const record = recordName ? startRecord(recordName, session.ordersTable) : undefined;
    return await workOn(session, inputName(name), orders, check, record);
  } catch (error) {
    if (!(error instanceof BadLinesError)) throw error;
    const { json, message } = error;
    return { json, notes: [message], rejected: true };
  }
}

/**
 * Reads and checks a file.
 *
 * @throws BadLinesError when a line is bad; CommandError when there are no orders: the command
 * before this one in a pipe may have failed.
 */
async function checkFile(file: string, signal: AbortSignal) {
  // `-` is standard input, which has no size.
  const { size } = await stat(file).catch(() => ({ size: 0 }));
  const progress = startProgress("Checking", "MB", size / 1e6);
  const onRead = (bytes: number) => progress.update(bytes / 1e6);
  const orders = await checkOrders(file, onRead, signal)
    .catch((error) => {
      throw signal.aborted ? new CommandError("Interrupted: nothing was written") : error;
    })
    .finally(() => progress.stop());
  if (orders.count === 0) throw new CommandError(`${inputName(file)} has no orders`);
  return orders;
}

/**
 * Writes the orders of a checked file that the table lacks, or only compares the file with the
 * table. Orders being written when it stops are finished, so that the counts are right.
 *
 * @returns a rejection unless the table now has every order, with the same values.
 */
async function workOn(
  session: Session,
  name: string,
  orders: CheckedOrders,
  check: boolean,
  record: ImportRecord | undefined,
) {
  const { ordersTable: table } = session;
  const total = orders.count;
  const calls = check ? undefined : session.calls("writes");
  const findings = new Findings();
  const counts = { missing: 0, same: 0, different: 0 };
  const write = async (calls: TableCalls, order: Line) => {
    try {
      let isCertain = true;
      const conflict = await calls.insert(table, "id", order.item, () => {
        isCertain = false;
      });
      if (isCertain) record?.add(conflict ? "thereBefore" : "written", order.item);
      return compare(findings, order, conflict?.found);
    } catch (error) {
      return addRejected(findings, order, error);
    }
  };
  const { done, unsettled, reason } = await workThrough(session, {
    title: check ? "Comparing" : "Writing",
    unit: "orders",
    total,
    items: record?.before(orders.read()) ?? orders.read(),
    keyOf: check ? ({ item }) => item : undefined,
    async *work(order, found) {
      const outcome = calls ? await write(calls, order) : compare(findings, order, found);
      if (outcome) yield outcome;
    },
    counts,
  });
  const { missing, same, different } = counts;
  const rest = total - done - unsettled;
  const named = check
    ? { same, different, missing, notCompared: rest }
    : {
        written: missing,
        alreadyThere: same,
        different,
        notWritten: rest,
        ...(unsettled > 0 && { mayHaveBeenWritten: unsettled }),
      };
  const text = `${counted(total, "order")}: ${countsText(named)}`;
  return {
    text,
    json: { badLines: [], orders: total, ...named, differing: findings.first },
    notes: fileReport(name, findings),
    unprinted: text,
    reason,
    rejected: same + (check ? 0 : missing) < total,
  };
}

/** Adds an order that the table rejects to the findings; others may be accepted. */
function addRejected(findings: Findings, { line, item }: Line, error: unknown) {
  if (!(error instanceof Error && error.name === "ValidationException")) throw error;
  const problem = `order ${item["id"]?.N} was rejected: ${error.message}`;
  findings.add("rejected", { line, problems: [problem] });
  return undefined;
}

/** Compares an order with the table's, if it has one, and adds it to the findings if it differs. */
function compare(findings: Findings, { line, item }: Line, found: OrderItem | undefined) {
  if (!found) return "missing";
  const names = differingAttributes(item, found);
  if (names.length === 0) return "same";
  const values = names.map(
    (name) => `${name} ${shortText(item[name])} (table: ${shortText(found[name])})`,
  );
  const problem = `order ${item["id"]?.N} differs: ${values.join(", ")}`;
  findings.add(names.join(", "), { line, problems: [problem] });
  return "different";
}

function shortText(attribute: AttributeValue | undefined) {
  const text = attribute ? jsonText(plainValue(attribute)) : "none";
  return text.length > longestValue ? `${text.slice(0, longestValue)}...` : text;
}
