import { Command } from "commander";
import { expect, test } from "vitest";
import { environments } from "../../../infra/environments.ts";
import { addKeyCommands, addOrderCommands } from "../../../infra/tools/admin/commands.ts";
import { makeApiKey } from "../../../shared/api-keys.ts";
import { run } from "../run.ts";
import { createTerminal } from "./terminal.ts";

const environmentNames = Object.keys(environments);
const key = "key_0123456789abcdef";
const reinstate = `orders reinstate --cancelled-by ${key}`;
const { play } = await createTerminal();
const keys = new Command("keys");
const orders = new Command("orders");
addKeyCommands(keys);
addOrderCommands(orders);
const commands = [keys, orders].flatMap((group) => [group, ...group.commands]);

test("a command needs to know where", async () => {
  const stderr = `error: choose --local or one of --env ${environmentNames.join(", --env ")}\n(see --help)\n`;
  for (const command of [
    "keys list --table abc",
    `orders repair --from ${"a".repeat(255)}`,
  ])
    expect(await run(command)).toEqual({ code: 2, stdout: "", stderr });
});

const names = "id shipmentId reinstatedAt cancelledAt cancelledBy cancellationId";
const unrepairable = [...names.split(" "), ""].map(
  (name) => `$ orders repair --from abc --fields petId,${name}
    ! error: … Must be names like petId,quantity, and not id or shipmentId.`,
);
const wrongUse = `
  $ keys
  ! Usage: petstore keys [options] [command]
  …
  exit 2
  $ keys list --env nowhere
  ! error: … Allowed choices are ${environmentNames.join(", ")}.
  $ keys list --env staging --local
  ! error: option '--env <name>' cannot be used with option '--local'
  $ keys list --table ab
  ! error: … Must be 3 to 255 of a-z, A-Z, 0-9, _, - and .
  $ keys revoke key_1
  ! error: 'key_1' is invalid for argument 'key-id'. Must be like key_0123456789abcdef: …
  $ keys repair --rate 0
  ! error: … Must be a whole number from 1 to 999999.
  $ keys issue
  ! error: required option '--name <name>' not specified
  $ keys issue --name ' '
  ! error: … Must have 1 to 200 characters (code points).
  $ keys issue --name ${"\u{1f600}".repeat(201)}
  ! error: … Must have 1 to 200 characters (code points).
  $ keys issue --name \u202etekram
  ! error: … Must be one line without control characters.
  $ keys issue --name Acme --expires 2026-02-30
  ! error: … Not a date like 2027-12-31, nor a date-time with Z or an offset.
  $ keys issue --name Acme --expires ${new Date().toISOString()}
  ! error: … Must be in the future.
  $ keys issue --name Acme --expires 9999-12-31T23:59:59-18:00
  ! error: … Must be in the year 9999 or earlier, in UTC.
  $ keys issue --name Acme --expires 2027-12-31T12:00
  ! error: … It lacks seconds and a time zone: write 2027-12-31T12:00:00Z.
  $ orders nope\u001b[31m
  ! error: unknown command 'nope\\u{1b}[31m'
  $ orders count --rate=1.5
  ! error: … Must be a whole number from 1 to 999999.
  $ orders count --rate 1000000
  ! error: … Must be a whole number from 1 to 999999.
  $ orders list --cancelled-by key_1
  ! error: … Must be like key_0123456789abcdef: \`keys check\` prints it.
  $ orders list --status lost
  ! error: … Allowed choices are pending, shipped, cancelled, other.
  $ orders show 10000000000000000000
  ! error: '10000000000000000000' is invalid … Not a 64-bit integer without leading zeros.
  $ orders ship 007
  ! error: '007' is invalid for argument 'order-id'. Not a 64-bit integer …
  $ orders ship 1 --file ids.txt
  ! error: name either orders or a file of ids
  $ orders ship 1 --date yesterday
  ! error: … Not a date like 2027-12-31, …
  $ orders ship 1 --date 2027-12-31T12:00-05:00
  ! error: … It lacks seconds: write 2027-12-31T12:00:00-05:00.
  $ orders audit
  ! error: required option '--log <file>' not specified
  $ orders export ''
  ! error: '' is invalid for argument 'file'. Must not be empty.
  $ orders export --table 'a b'
  ! error: … Must be 3 to 255 of …
  $ orders import ''
  ! error: '' is invalid for argument 'file'. Must not be empty.
  $ orders import a --yes
  ! error: --yes goes with --undo only
  $ orders import a --undo b --yes
  ! error: --undo needs only the record
  $ orders import --undo a --check --yes
  ! error: option '--undo <file>' cannot be used with option '--check'
  $ orders import --undo a --record b --yes
  ! error: option '--undo <file>' cannot be used with option '--record <file>'
  $ orders import --record a --check
  ! error: option '--record <file>' cannot be used with option '--check'
  $ orders repair
  ! error: required option '--from <table>' not specified
  ${unrepairable.join("\n")}
  $ orders repair --from ${"a".repeat(256)}
  ! error: … Must be 3 to 255 of …
  $ orders reinstate
  ! error: required option '--cancelled-by <key-id>' not specified
  $ ${reinstate}
  ! error: required option '--since <date-time>' not specified
  $ ${reinstate} --since '20 November 2026'
  ! error: … Not a date like 2027-12-31, …
  $ ${reinstate} --since 2999-12-31 --until 3000-01-01
  ! error: --since must be in the past, and earlier than --until
  $ ${reinstate} --since 2020-01-01 --until 2020-01-01T01:00:00+01:00
  ! error: --since must be in the past, and earlier than --until
  $ ${reinstate} --since 2026-11-20 --ids a --except b
  ! error: option '--except <file>' cannot be used with option '--ids <file>'`;
test("wrong use exits with 2 and says why", () => play`
  ${wrongUse
    .trim()
    .replaceAll(/\n +/g, "\n")
    .replaceAll(/^! error.*/gm, "$&\n! (see --help)\nexit 2")}
`);

test("no option takes an empty text, as an unset variable would make, nor another type's", async () => {
  for (const command of commands)
    for (const { flags, long } of command.options.filter(({ required }) => required))
      for (const value of /<(file|names?)>/.test(flags) ? [""] : ["", "?"]) {
        const words = `${command.parent?.name() ?? ""} ${command.name()} ${long}=${value}`;
        expect(await run(words)).toMatchObject({
          code: 2,
          stderr: expect.stringContaining(`argument '${value}' is invalid`),
        });
      }
});

const apiKey = makeApiKey("pets_test");
const secret = apiKey.slice("pets_test_".length);
test.each([
  [
    "keys check KEY --local",
    "give the key on standard input, like `keys check < key.txt`",
  ],
  ["keys check --local -- KEY", "give the key on standard input"],
  ["keys revoke KEY --local", "for argument 'key-id'"],
  ["orders list --local --cancelled-by KEY", "--cancelled-by <key-id>"],
  ["keys KEY --local", "unknown command"],
  ["keys list --local KEY", "too many arguments"],
  ["keys list --KEY", "unknown option"],
])("echoes nothing of a key, even a mistyped one: %s", async (command, reason) => {
  const mistyped = [`${apiKey}x`, apiKey.slice(4), apiKey.replace("_test", "-test")];
  for (const word of [apiKey, secret, secret.slice(-20), ...mistyped]) {
    const { code, stdout, stderr } = await run(command.replace("KEY", word));
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(reason);
    for (const part of [secret.slice(0, 8), secret.slice(-8)])
      expect(stderr).not.toContain(part);
  }
});
