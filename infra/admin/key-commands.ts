import { type Command, InvalidArgumentError } from "commander";
import { CommandError } from "../terminal/errors.ts";
import { readSecret } from "../terminal/input.ts";
import { printable } from "../terminal/printable.ts";
import { check, issue, list, now, revoke } from "./api-keys.ts";
import { action } from "./command.ts";
import {
  parseKeyId,
  parseMoment,
  rateOption,
  repairCommand,
  tableOption,
} from "./options.ts";
import { type RepairOptions, repair } from "./repair.ts";
import { keyRules } from "./repair-rules.ts";

const keyAsArgument =
  "give the key on standard input, like `keys check < key.txt`: " +
  "an argument stays in the shell's history";

/** Adds the commands that issue, list, revoke and check API keys. */
export function addKeyCommands(program: Command): void {
  const keys = program
    .command("keys")
    .description("issue, list, revoke and check API keys");
  keys
    .command("issue")
    .description("issue a key and print it, once, alone on standard output")
    .requiredOption("--name <name>", "who the key is for", parseName)
    .option(
      "--expires <date>",
      "the last day the key works, in UTC, or the date-time it expires",
      parseExpiry,
    )
    .action(action(issue));
  keys
    .command("list")
    .option("--active", "only the keys that work")
    .description("list every key ever issued; the keys themselves are never shown again")
    .addOption(tableOption)
    .action(action(list));
  keys
    .command("revoke")
    .argument("<key-id>", "as shown by `keys list`", parseKeyId)
    .description("revoke a key for good")
    .action(action(revoke));
  keys
    .command("check")
    .description("read a key from standard input and say whether the service accepts it")
    // Rejected here, because commander would quote them.
    .allowExcessArguments()
    .hook("preAction", (check) => {
      if (check.args.length > 0) check.error(`error: ${keyAsArgument}`);
    })
    .action(
      action(async (target) => {
        const key = await readSecret("Key (input is hidden): ");
        if (key === "") throw new CommandError("Standard input has no key");
        return await check(target, key);
      }),
    );
  repairCommand(keys)
    .addOption(rateOption)
    .action(
      action((session, options: RepairOptions) =>
        repair(session, session.apiKeysTable, keyRules, options),
      ),
    );
}

function parseName(name: string): string {
  const trimmed = name.trim();
  // Counted in code points: one visible character can take any number of bytes.
  if (!/^.{1,200}$/su.test(trimmed))
    throw new InvalidArgumentError("Must have 1 to 200 characters (code points).");
  if (printable(trimmed) !== trimmed)
    throw new InvalidArgumentError("Must be one line without control characters.");
  return trimmed;
}

/**
 * Epoch seconds. A day ends with its last second, so that `keys list` shows the day the operator
 * gave.
 */
function parseExpiry(text: string): number {
  const expiresAt = Math.floor(Date.parse(parseMoment(text, "23:59:59Z")) / 1000);
  if (new Date(expiresAt * 1000).getUTCFullYear() > 9999) {
    throw new InvalidArgumentError("Must be in the year 9999 or earlier, in UTC.");
  }
  if (expiresAt <= now()) throw new InvalidArgumentError("Must be in the future.");
  return expiresAt;
}
