import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import type { OrderItem } from "../../../shared/order.ts";
import { differingAttributes, plainValue } from "../orders-file/attributes.ts";
import {
  type CheckedOrders,
  checkOrders,
  Findings,
  fileReport,
} from "../orders-file/orders-file.ts";
import { CommandError } from "../terminal/errors.ts";
import { inputName } from "../terminal/input.ts";
import { counted, countsText, jsonText } from "../terminal/text.ts";
import type { Result, Session } from "./command.ts";
import { type ImportRecord, startRecord } from "./import-record.ts";
import { startProgress } from "./progress.ts";
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
  { record: recordName, undo, yes = false }: ImportOptions,
): Promise<Result> {
  if (undo !== undefined) return await undoImport(session, undo, yes);
  using orders = await checkFile(name, session.interruptible());
  const record = recordName ? startRecord(recordName, session.ordersTable) : undefined;
  return await writeOrders(session, inputName(name), orders, record);
}

/**
 * Reads and checks a file.
 *
 * @throws CommandError when a line is bad or there are no orders: the command before this one in a
 * pipe may have failed.
 */
async function checkFile(file: string, signal: AbortSignal) {
  const progress = startProgress("Checking", "MB");
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
 * Writes the orders of a checked file that the table lacks. Orders being written when it stops are
 * finished, so that the counts are right.
 *
 * @returns a rejection unless the table now has every order, with the same values.
 */
async function writeOrders(
  session: Session,
  name: string,
  orders: CheckedOrders,
  record: ImportRecord | undefined,
) {
  const total = orders.count;
  const calls = session.calls("writes");
  const findings = new Findings();
  const counts = { written: 0, alreadyThere: 0, different: 0 };
  const write = async (order: Line) => {
    let isCertain = true;
    const conflict = await calls.insert(session.ordersTable, "id", order.item, () => {
      isCertain = false;
    });
    if (isCertain) record?.add(conflict ? "thereBefore" : "written", order.item);
    return compare(findings, order, conflict?.found);
  };
  const { done, unsettled, reason } = await workThrough(session, {
    title: "Writing",
    unit: "orders",
    total,
    items: record?.before(orders.read()) ?? orders.read(),
    async *work(order) {
      try {
        yield await write(order);
      } catch (error) {
        addRejected(findings, order, error);
      }
    },
    counts,
  });
  const named = {
    ...counts,
    notWritten: total - done - unsettled,
    ...(unsettled > 0 && { mayHaveBeenWritten: unsettled }),
  };
  const text = `${counted(total, "order")}: ${countsText(named)}`;
  return {
    text,
    json: { orders: total, ...named, differing: findings.first },
    notes: fileReport(name, findings),
    unprinted: text,
    reason,
    rejected: counts.written + counts.alreadyThere < total,
  };
}

/** Adds an order that the table rejects to the findings; others may be accepted. */
function addRejected(findings: Findings, { line, item }: Line, error: unknown) {
  if (!(error instanceof Error && error.name === "ValidationException")) throw error;
  const problem = `order ${item["id"]?.N} was rejected: ${error.message}`;
  findings.add("rejected", { line, problems: [problem] });
}

/** Compares an order with the table's, if it had one, and adds it to the findings if it differs. */
function compare(findings: Findings, { line, item }: Line, found: OrderItem | undefined) {
  if (!found) return "written";
  const names = differingAttributes(item, found);
  if (names.length === 0) return "alreadyThere";
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
