import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import { type Command, InvalidArgumentError } from "commander";
import { isInt64, type OrderItem, orderFields, parseOrderId } from "../../shared/order.ts";
import { listApiKeys } from "./api-keys.ts";
import { addCarryOver } from "./carry-over-command.ts";
import { orderRules } from "./carry-over-rules.ts";
import { type Result, run } from "./command.ts";
import { exportCommand } from "./export-orders.ts";
import { importCommand } from "./import-orders.ts";
import { readOrder, shipOrder } from "./orders.ts";
import { addRestore } from "./restore-command.ts";
import type { Target } from "./target.ts";
import { columns } from "./terminal.ts";

/** Adds the commands that import, export, ship and show orders. */
export function addOrderCommands(program: Command): void {
  const orders = program.command("orders").description("import, export, ship and show orders");
  orders
    .command("import")
    .argument("<file>", "NDJSON: one order per line, with its status (default: pending)")
    .description("check every line of a file, then write the orders that are not in the table yet")
    .action((file: string, _options, command: Command) => importCommand(command, file));
  orders
    .command("export")
    .argument("[file]", "where to write (default: standard output)")
    .description("write every order, one per line, in the format of `orders import`")
    .action((file: string | undefined, _options, command: Command) => exportCommand(command, file));
  orders
    .command("ship")
    .argument("<order-id>", "the order's id", parseId)
    .description("ship a pending order")
    .action((id: bigint, _options, command: Command) => run(command, (target) => ship(target, id)));
  orders
    .command("show")
    .argument("<order-id>", "the order's id", parseId)
    .description("show an order with its status and, if it was cancelled, when and by which key")
    .action((id: bigint, _options, command: Command) => run(command, (target) => show(target, id)));
  addRestore(orders, "orders");
  addCarryOver(orders, "ordersTable", orderRules).option(
    "--not-by <key-id>",
    "leave out what this key cancelled (can be repeated)",
    (keyId, others: string[] = []) => [...others, keyId],
  );
}

/** Ships a pending order. */
export async function ship(target: Target, id: bigint): Promise<Result> {
  await shipOrder(target, id);
  return { text: `Order ${id} has shipped.`, json: { id, status: "shipped" } };
}

/** Shows an order as the table holds it, and the name of the key that cancelled it. */
export async function show(target: Target, id: bigint): Promise<Result> {
  const item = await readOrder(target, id);
  const cancelledBy = item["cancelledBy"]?.S;
  if (cancelledBy !== undefined) {
    const { keys } = await listApiKeys(target);
    const key = keys.find(({ keyId }) => keyId === cancelledBy);
    if (key) item["cancelledByName"] = { S: key.name };
  }
  const names = sortedNames(item);
  return {
    text: columns(names.map((name) => [name, attributeText(item[name])])),
    json: Object.fromEntries(names.map((name) => [name, attributeJson(item[name])])),
  };
}

const order = [...orderFields.map(({ name }): string => name), "status", "cancelledAt", "cancelledBy"];

/** The names of an order's attributes: the known ones in the order of the interface description, then the rest. */
function sortedNames(item: OrderItem): string[] {
  const names = Object.keys(item);
  return [...order.filter((name) => names.includes(name)), ...names.filter((name) => !order.includes(name)).sort()];
}

function attributeText(attribute: AttributeValue | undefined): string {
  const { N, S, BOOL } = attribute ?? {};
  return N ?? S ?? (BOOL === undefined ? JSON.stringify(attribute) : String(BOOL));
}

function attributeJson(attribute: AttributeValue | undefined): unknown {
  const { N, S, BOOL } = attribute ?? {};
  if (N !== undefined) return isInt64(N) ? BigInt(N) : N;
  return S ?? BOOL ?? attribute;
}

function parseId(text: string): bigint {
  const id = parseOrderId(text);
  if (id === undefined) throw new InvalidArgumentError("Not a 64-bit integer without leading zeros.");
  return id;
}
