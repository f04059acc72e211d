import { type Command, Option } from "commander";
import {
  parseFields,
  parseId,
  parseKeyId,
  parseMoment,
  parseTable,
  parseText,
  parseTime,
} from "./arguments.ts";
import { auditCommand } from "./audit-orders.ts";
import { rateOption, run } from "./command.ts";
import { exportCommand } from "./export-orders.ts";
import { importCommand } from "./import-orders.ts";
import { reinstateCommand } from "./reinstate-orders.ts";
import { addRepair } from "./repair.ts";
import { orderRules } from "./repair-rules.ts";
import { shipCommand, shipExitCodes } from "./ship-orders.ts";
import { countCommand, listCommand, show, statusChoices } from "./show-orders.ts";

/** Adds the commands that import, export, ship, mend, list, count and show orders. */
export function addOrderCommands(program: Command): void {
  const orders = program
    .command("orders")
    .description("import, export, ship, mend, list, count and show orders");
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
  addReinstate(orders);
  addRepair(orders, "ordersTable", orderRules)
    .option(
      "--fields <names>",
      "also put these attributes back where they differ, like petId,quantity",
      parseFields,
    )
    .option("--ids <file>", "only these orders: a file of ids, one per line", parseText);
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
    .option("--ids <file>", "only these orders: a file of ids, one per line", parseText)
    .addOption(
      new Option("--except <file>", "not these orders: a file of ids, one per line")
        .argParser(parseText)
        .conflicts("ids"),
    )
    .option("--dry-run", "only print what would be reinstated")
    .addOption(rateOption())
    .action(reinstateCommand);
}

/** Adds the commands that only read orders. */
function addLookUps(orders: Command): void {
  orders
    .command("list")
    .addOption(
      new Option("--status <status>", "only orders with this status").choices(statusChoices),
    )
    .option("--cancelled-by <key-id>", "only orders that this key cancelled", parseKeyId)
    .addOption(rateOption())
    .description("list orders as they are read; with --json in the format of `orders import`")
    .action(listCommand);
  orders
    .command("count")
    .addOption(rateOption())
    .description("count the orders by status")
    .action(countCommand);
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
