import { type Command, InvalidArgumentError } from "commander";
import { parseOrderId } from "../../shared/order.ts";
import { listApiKeys } from "./api-keys.ts";
import { answer } from "./command.ts";
import { exportCommand } from "./export-command.ts";
import { importCommand } from "./import-command.ts";
import { orderFields } from "./order-fields.ts";
import { readOrder, shipOrder } from "./orders.ts";
import { columns } from "./terminal-text.ts";

/** Adds the commands that import, export, ship and show orders. */
export function addOrderCommands(program: Command): void {
  const orders = program.command("orders").description("import, export, ship and show orders");
  orders
    .command("import")
    .argument("<file>", "NDJSON: an Order a line, and its status (default: pending)")
    .description("check every line of a file, then write the orders whose id is not in the table yet")
    .action((file: string, _options, command: Command) => importCommand(command, file));
  orders
    .command("export")
    .argument("[file]", "where to write (default: standard output)")
    .description("write every order, a line each, as `orders import` reads them")
    .action((file: string | undefined, _options, command: Command) => exportCommand(command, file));
  orders
    .command("ship")
    .argument("<order-id>", "the order's id", parseId)
    .description("ship a pending order")
    .action((id: bigint, _options, command: Command) => ship(command, id));
  orders
    .command("show")
    .argument("<order-id>", "the order's id", parseId)
    .description("show an order with its status and, if it was cancelled, when and by which key")
    .action((id: bigint, _options, command: Command) => show(command, id));
}

function ship(command: Command, id: bigint): Promise<void> {
  return answer(command, async (target) => {
    await shipOrder(target, id);
    return { text: `Order ${id} has shipped.`, json: { id, status: "shipped" } };
  });
}

function show(command: Command, id: bigint): Promise<void> {
  return answer(command, async (target) => {
    const fields = orderFields(await readOrder(target, id));
    const cancelledBy = fields.find(({ name }) => name === "cancelledBy")?.text;
    if (cancelledBy !== undefined) {
      const { keys } = await listApiKeys(target);
      const key = keys.find(({ keyId }) => keyId === cancelledBy);
      if (key) fields.push({ name: "cancelledByName", text: String(key.name ?? ""), json: String(key.name ?? "") });
    }
    return {
      text: columns(fields.map(({ name, text }) => [name, text])),
      json: Object.fromEntries(fields.map(({ name, json }) => [name, json])),
    };
  });
}

function parseId(text: string): bigint {
  const id = parseOrderId(text);
  if (id === undefined) throw new InvalidArgumentError("An order id is a decimal int64 without leading zeros.");
  return id;
}
