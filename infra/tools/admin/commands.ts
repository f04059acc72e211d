import { type Command, Option } from "commander";
import { environments } from "../../environments.ts";
import { addProfile } from "../terminal/caller.ts";
import { parseNonEmpty, wholeNumber } from "../terminal/script.ts";
import {
  parseExpiry,
  parseFields,
  parseId,
  parseKeyId,
  parseName,
  parseTable,
  parseTime,
  statusChoices,
} from "./parsers.ts";
import type { Result, Session, TargetOptions } from "./session.ts";
import { shipExitCodes } from "./ship-outcomes.ts";

/**
 * The action of a command: the work with this name, which gets the arguments and the options of the
 * command line.
 *
 * @param load loads the work's module. That takes a while, so neither help nor wrong use waits for
 * it.
 */
function action<Name extends string, Given extends unknown[]>(
  load: () => Promise<
    Record<NoInfer<Name>, (session: Session, ...given: Given) => Promise<Result>>
  >,
  name: Name,
) {
  return async function (this: Command, ...given: Given) {
    const { env, local } = this.optsWithGlobals<TargetOptions>();
    if (!env && !local)
      this.error(
        `error: choose --local or one of --env ${Object.keys(environments).join(", --env ")}`,
      );
    const [{ runOnTarget }, work] = await Promise.all([import("./session.ts"), load()]);
    await runOnTarget(this, (session) => work[name](session, ...given));
  };
}

/** Adds the choice of where a group of commands works, and how it prints. */
function addTarget(command: Command) {
  return addProfile(command)
    .addOption(
      new Option(
        "--env <name>",
        "work on this deployed environment, with your own AWS credentials",
      )
        .choices(Object.keys(environments))
        .conflicts("local"),
    )
    .option("--local", "work on the running `petstore start`")
    .option("--json", "print JSON, for scripts");
}

const rateOption = new Option(
  "--rate <units>",
  "read and write units a second (default: half of what the table serves; no limit with --local)",
).argParser(wholeNumber(1, 999_999));

const tableOption = new Option(
  "--table <name>",
  "read this table (default: the one in use)",
).argParser(parseTable);

const idsOption = new Option(
  "--ids <file>",
  "only these orders: a file of ids, one per line",
).argParser(parseNonEmpty);

const dryRunOption = new Option("--dry-run", "only say what would be changed");

/** Adds the commands of API keys. */
export function addKeyCommands(keys: Command) {
  addTarget(keys);
  keys
    .command("issue")
    .description("issue a key and print it, once, alone on standard output")
    .requiredOption("--name <name>", "who the key is for", parseName)
    .option(
      "--expires <date>",
      "the last day the key works, in UTC, or the date-time it expires",
      parseExpiry,
    )
    .action(action(() => import("./api-keys.ts"), "issueKey"));
  keys
    .command("list")
    .description("list every key ever issued; the keys themselves are never shown again")
    .option("--active", "only the keys that work")
    .addOption(tableOption)
    .action(action(() => import("./api-keys.ts"), "listKeys"));
  keys
    .command("revoke")
    .description("revoke a key for good")
    .argument("<key-id>", "as shown by `keys list`", parseKeyId)
    .action(action(() => import("./api-keys.ts"), "revokeKey"));
  keys
    .command("check")
    .description("read a key from standard input and say whether the service accepts it")
    // Rejected here, because commander would quote them.
    .allowExcessArguments()
    .hook("preAction", (check) => {
      if (check.args.length > 0)
        check.error(
          "error: give the key on standard input, like `keys check < key.txt`: " +
            "an argument stays in the shell's history",
        );
    })
    .action(action(() => import("./api-keys.ts"), "checkKey"));
  repairCommand(keys)
    .addOption(rateOption)
    .action(action(() => import("./repair.ts"), "repairKeys"));
}

/** Adds the commands of orders. */
export function addOrderCommands(orders: Command) {
  addTarget(orders).addOption(rateOption);
  addImport(orders);
  orders
    .command("export")
    .description("write every order, one per line, in the format of `orders import`")
    .argument("[file]", "where to write (default: standard output)", parseNonEmpty)
    .addOption(tableOption)
    .action(action(() => import("./read-orders.ts"), "exportOrders"));
  orders
    .command("ship")
    .description("ship pending orders")
    .argument("[order-id...]", "the orders' ids", (text, ids: string[] = []) => [
      ...ids,
      parseId(text),
    ])
    .option(
      "--file <file>",
      "a file of ids, one per line (default, without ids: standard input, like `-`)",
      parseNonEmpty,
    )
    .option(
      "--date <date>",
      "when they shipped: a day, in UTC, or a date-time (default: now)",
      parseTime,
    )
    .addHelpText("after", shipExitCodes)
    .hook("preAction", (ship) => {
      if (ship.args.length > 0 && ship.opts()["file"] !== undefined)
        ship.error("error: name either orders or a file of ids");
    })
    .action(action(() => import("./ship-orders.ts"), "shipOrders"));
  addLookUps(orders);
  addReinstate(orders);
  repairCommand(orders)
    .option(
      "--fields <names>",
      "also repair these attributes where they differ, like petId,quantity; status undoes " +
        "shipments and cancellations that left no id",
      parseFields,
    )
    .addOption(idsOption)
    .action(action(() => import("./repair.ts"), "repairOrders"));
}

function addImport(orders: Command) {
  orders
    .command("import")
    .description(
      "check every line of a file, then write the orders that are not in the table yet",
    )
    .argument("[file]", "NDJSON: one order per line, with its status", parseNonEmpty, "-")
    .option("--check", "compare the orders with the table, and write nothing")
    .addOption(
      new Option(
        "--record <file>",
        "write down what is written, in a new file, for --undo",
      )
        .argParser(parseNonEmpty)
        .conflicts("check"),
    )
    .addOption(
      new Option(
        "--undo <file>",
        "by its record, delete what an import has written, unless changed since; asks first",
      )
        .argParser(parseNonEmpty)
        .conflicts(["check", "record"]),
    )
    .option("--yes", "don't ask")
    .hook("preAction", (command) => {
      const { undo, yes } = command.opts();
      if (yes && !undo) command.error("error: --yes goes with --undo only");
      if (!undo) return;
      if (command.args.length > 0) command.error("error: --undo needs only the record");
      if (!yes && !process.stdin.isTTY)
        command.error("error: No terminal to ask on. Add --yes to go ahead.");
    })
    .action(action(() => import("./import-orders.ts"), "importOrders"));
}

function addReinstate(orders: Command) {
  orders
    .command("reinstate")
    .description(
      "make orders pending again that a key has cancelled, and print their ids",
    )
    .requiredOption(
      "--cancelled-by <key-id>",
      "the key, such as a leaked one",
      parseKeyId,
    )
    .requiredOption(
      "--since <date-time>",
      "leave what it cancelled earlier, like 2026-11-20T08:00:00Z",
      parseTime,
    )
    .option("--until <date-time>", "leave what it cancelled from then on", parseTime)
    .addOption(idsOption)
    .addOption(
      new Option("--except <file>", "not these orders: a file of ids, one per line")
        .argParser(parseNonEmpty)
        .conflicts("ids"),
    )
    .addOption(dryRunOption)
    .hook("preAction", (reinstate) => {
      const { since, until } = reinstate.opts();
      const end = Math.min(Date.now(), until ? Date.parse(until) : Date.now());
      if (Date.parse(since) >= end)
        reinstate.error("error: --since must be in the past, and earlier than --until");
    })
    .action(action(() => import("./reinstate-orders.ts"), "reinstateOrders"));
}

/** Adds the commands that only read orders. */
function addLookUps(orders: Command) {
  orders
    .command("list")
    .description(
      "list orders as they are read; with --json in the format of `orders import`",
    )
    .addOption(
      new Option("--status <status>", "only orders with this status").choices(
        statusChoices,
      ),
    )
    .option("--cancelled-by <key-id>", "only orders that this key cancelled", parseKeyId)
    .action(action(() => import("./read-orders.ts"), "listOrders"));
  orders
    .command("count")
    .description("count the orders by status")
    .action(action(() => import("./read-orders.ts"), "countOrders"));
  orders
    .command("show")
    .description(
      "show an order with its status and, if it was cancelled, when and by which key",
    )
    .argument("<order-id>", "the order's id", parseId)
    .action(action(() => import("./read-orders.ts"), "showOrder"));
  orders
    .command("audit")
    .description("compare the cancellations in CancelOrder's log with the table")
    .requiredOption(
      "--log <file>",
      "the function's log lines (`-` is standard input)",
      parseNonEmpty,
    )
    .action(action(() => import("./audit-orders.ts"), "auditCancellations"));
}

/** Adds the command that repairs the items of a table. */
function repairCommand(commands: Command) {
  return commands
    .command("repair")
    .description(
      "repair what is missing or damaged, from a copy that was restored beside it",
    )
    .requiredOption("--from <table>", "the copy", parseTable)
    .addOption(dryRunOption);
}
