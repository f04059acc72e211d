import { type Command, Option } from "commander";
import { auditCancellations } from "./audit-orders.ts";
import { action } from "./command.ts";
import { exportOrders } from "./export-orders.ts";
import { importOrders } from "./import-orders.ts";
import {
  dryRunOption,
  idsOption,
  parseFields,
  parseId,
  parseKeyId,
  parseText,
  parseTime,
  rateOption,
  repairCommand,
  tableOption,
} from "./options.ts";
import { reinstateOrders } from "./reinstate-orders.ts";
import { type RepairOptions, repair } from "./repair.ts";
import { orderRules } from "./repair-rules.ts";
import { shipExitCodes, shipOrders } from "./ship-orders.ts";
import { countOrders, listOrders, show, statusChoices } from "./show-orders.ts";

/** Adds the commands that import, export, ship, mend, list, count and show orders. */
export function addOrderCommands(program: Command): void {
  const orders = program
    .command("orders")
    .description("import, export, ship, mend, list, count and show orders")
    .addOption(rateOption);
  orders
    .command("import")
    .argument("[file]", "NDJSON: one order per line, with its status", parseText, "-")
    .option("--check", "compare the orders with the table, and write nothing")
    .description(
      "check every line of a file, then write the orders that are not in the table yet",
    )
    .action(action(importOrders));
  orders
    .command("export")
    .argument("[file]", "where to write (default: standard output)", parseText)
    .addOption(tableOption)
    .description("write every order, one per line, in the format of `orders import`")
    .action(action(exportOrders));
  orders
    .command("ship")
    .argument("[order-id...]", "the orders' ids", (text, ids: string[] = []) => [
      ...ids,
      parseId(text),
    ])
    .option(
      "--file <file>",
      "a file of ids, one per line (default, without ids: standard input, like `-`)",
      parseText,
    )
    .option(
      "--date <date>",
      "when they shipped: a day, in UTC, or a date-time (default: now)",
      parseTime,
    )
    .description("ship pending orders")
    .addHelpText("after", shipExitCodes)
    .hook("preAction", (ship) => {
      if (ship.args.length > 0 && ship.getOptionValue("file") !== undefined)
        ship.error("error: name either orders or a file of ids");
    })
    .action(action(shipOrders));
  addLookUps(orders);
  addReinstate(orders);
  repairCommand(orders)
    .option(
      "--fields <names>",
      "also put these attributes back where they differ, like petId,quantity",
      parseFields,
    )
    .addOption(idsOption)
    .action(
      action(
        (session, { fields = [], ...options }: RepairOptions & { fields?: string[] }) =>
          repair(session, session.ordersTable, orderRules(fields), options),
      ),
    );
}

function addReinstate(orders: Command): void {
  orders
    .command("reinstate")
    .description("make orders pending again that a key has cancelled, and print their ids")
    .requiredOption("--cancelled-by <key-id>", "the key, such as a leaked one", parseKeyId)
    .requiredOption(
      "--since <date-time>",
      "leave what it cancelled earlier, like 2026-11-20T08:00:00Z",
      parseTime,
    )
    .option("--until <date-time>", "leave what it cancelled from then on", parseTime)
    .addOption(idsOption)
    .addOption(
      new Option("--except <file>", "not these orders: a file of ids, one per line")
        .argParser(parseText)
        .conflicts("ids"),
    )
    .addOption(dryRunOption)
    .action(action(reinstateOrders));
}

/** Adds the commands that only read orders. */
function addLookUps(orders: Command): void {
  orders
    .command("list")
    .addOption(
      new Option("--status <status>", "only orders with this status").choices(
        statusChoices,
      ),
    )
    .option("--cancelled-by <key-id>", "only orders that this key cancelled", parseKeyId)
    .description(
      "list orders as they are read; with --json in the format of `orders import`",
    )
    .action(action(listOrders));
  orders
    .command("count")
    .description("count the orders by status")
    .action(action(countOrders));
  orders
    .command("show")
    .argument("<order-id>", "the order's id", parseId)
    .description(
      "show an order with its status and, if it was cancelled, when and by which key",
    )
    .action(action(show));
  orders
    .command("audit")
    .requiredOption(
      "--log <file>",
      "the function's log lines (`-` is standard input)",
      parseText,
    )
    .description("compare the cancellations in CancelOrder's log with the table")
    .action(action(auditCancellations));
}
