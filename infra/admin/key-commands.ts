import { type Command, InvalidArgumentError } from "commander";
import { CommandError } from "../terminal/errors.ts";
import { readSecret } from "../terminal/input.ts";
import { printable } from "../terminal/printable.ts";
import { check, issue, list, revoke } from "./api-keys.ts";
import { parseKeyId, parseMoment, parseTable } from "./arguments.ts";
import { run } from "./command.ts";
import { addRepair } from "./repair.ts";
import { keyRules } from "./repair-rules.ts";

const keyAsArgument =
  "give the key on standard input, like `keys check < key.txt`: " +
  "an argument stays in the shell's history";

/** Adds the commands that issue, list, revoke and check API keys. */
export function addKeyCommands(program: Command): void {
  const keys = program.command("keys").description("issue, list, revoke and check API keys");
  keys
    .command("issue")
    .description("issue a key and print it, once, alone on standard output")
    .requiredOption("--name <name>", "who the key is for", parseName)
    .option(
      "--expires <date>",
      "the last day the key works, in UTC, or the date-time it expires",
      parseExpiry,
    )
    .action(({ name, expires }: { name: string; expires?: number }, command: Command) =>
      run(command, (target) => issue(target, name, expires, now())),
    );
  keys
    .command("list")
    .option("--active", "only the keys that work")
    .description("list every key ever issued; the keys themselves are never shown again")
    .option("--table <name>", "list the keys of this table (default: the one in use)", parseTable)
    .action(({ table, active }: { table?: string; active?: boolean }, command: Command) =>
      run(command, (target) =>
        list({ ...target, apiKeysTable: table ?? target.apiKeysTable }, now(), active),
      ),
    );
  keys
    .command("revoke")
    .argument("<key-id>", "as shown by `keys list`", parseKeyId)
    .description("revoke a key for good")
    .action((keyId: string, _options, command: Command) =>
      run(command, (target) => revoke(target, keyId, now())),
    );
  keys
    .command("check")
    .description("read a key from standard input and say whether the service accepts it")
    // Rejected here, because commander would quote them.
    .allowExcessArguments()
    .action((_options, command: Command) => {
      if (command.args.length > 0) command.error(`error: ${keyAsArgument}`);
      return run(command, async (target) => {
        const key = await readSecret("Key (input is hidden): ");
        if (key === "") throw new CommandError("Standard input has no key");
        return await check(target, key, now());
      });
    });
  addRepair(keys, "apiKeysTable", () => keyRules);
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

function now(): number {
  return Math.floor(Date.now() / 1000);
}
