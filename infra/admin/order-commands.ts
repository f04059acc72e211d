import { type Command, Option } from "commander";
import { parseId, parseMoment, parseTable, parseText } from "./arguments.ts";
import { auditCommand } from "./audit-orders.ts";
import { addCarryOver } from "./carry-over.ts";
import { orderRules } from "./carry-over-rules.ts";
import { pacedCalls, rateOption, run } from "./command.ts";
import { exportCommand } from "./export-orders.ts";
import { importCommand } from "./import-orders.ts";
import { addRestore } from "./restore-table.ts";
import { shipCommand, shipExitCodes } from "./ship-orders.ts";
import { count, listCommand, show, statusChoices } from "./show-orders.ts";

/** Adds the commands that import, export, ship, list, count and show orders. */
export function addOrderCommands(program: Command): void {
  const orders = program
    .command("orders")
    .description("import, export, ship, list, count and show orders");
  orders
    .command("import")
    .argument("[file]", "NDJSON: one order per line, with its status", parseText, "-")
    .option("--check", "compare the orders with the table, and write nothing")
    .addOption(rateOption())
    .description("check every line of a file, then write the orders that are not in the table yet")
    .action(importCommand);
  orders
    .command("export")
    .argument("[file]", "where to write (default: standard output)", parseText)
    .option("--table <name>", "export this table (default: the one in use)", parseTable)
    .addOption(rateOption())
    .description("write every order, one per line, in the format of `orders import`")
    .action(exportCommand);
  orders
    .command("ship")
    .argument("[order-id...]", "the orders' ids", (text, ids: bigint[] = []) => [
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
      (text) => parseMoment(text, "00:00:00Z"),
    )
    .addOption(rateOption())
    .description("ship pending orders")
    .addHelpText("after", shipExitCodes)
    .action(shipCommand);
  addLookUps(orders);
  addRestore(orders, "orders");
  addCarryOver(orders, "ordersTable", orderRules).option(
    "--not-by <key-id>",
    "leave out what this key cancelled (can be repeated)",
    (keyId, others: string[] = []) => [...others, parseText(keyId)],
  );
}

/** Adds the commands that only read orders. */
function addLookUps(orders: Command): void {
  orders
    .command("list")
    .addOption(
      new Option("--status <status>", "only orders with this status").choices(statusChoices),
    )
    .option("--cancelled-by <key-id>", "only orders that this key cancelled", parseText)
    .addOption(rateOption())
    .description("list orders as they are read; with --json in the format of `orders import`")
    .action(listCommand);
  orders
    .command("count")
    .addOption(rateOption())
    .description("count the orders by status")
    .action((_options, command: Command) =>
      run(command, (target) => count(target.ordersTable, pacedCalls(command, target, "reads"))),
    );
  orders
    .command("show")
    .argument("<order-id>", "the order's id", parseId)
    .description("show an order with its status and, if it was cancelled, when and by which key")
    .action((id: bigint, _options, command: Command) => run(command, (target) => show(target, id)));
  orders
    .command("audit")
    .requiredOption("--log <file>", "the function's log lines (`-` is standard input)", parseText)
    .addOption(rateOption())
    .description("compare the cancellations in CancelOrder's log with the table")
    .action(auditCommand);
}
