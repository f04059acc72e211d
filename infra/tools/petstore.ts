import "./terminal/report-errors.ts";
import type { Command } from "commander";
import packageJson from "../../package.json" with { type: "json" };
import { Script } from "./terminal/script.ts";

interface Entry {
  description: string;
  /** Loads what adds the command's arguments, options and action. */
  load(): Promise<(command: Command) => unknown>;
}

const deploying = () => import("./deploy/commands.ts");
const operating = () => import("./admin/commands.ts");

/** The commands by name, under the headings of the help. */
const groups: Record<string, Record<string, Entry>> = {
  "Run it on this machine:": {
    start: {
      description: "run the service",
      load: async () => (await import("./local/start-options.ts")).addStart,
    },
  },
  "Operate it:": {
    keys: {
      description: "issue, list, revoke, check and repair API keys",
      load: async () => (await operating()).addKeyCommands,
    },
    orders: {
      description:
        "list, show, count, import, export, ship, audit, reinstate and repair orders",
      load: async () => (await operating()).addOrderCommands,
    },
  },
  "Deploy it:": {
    synth: {
      description: "write and check the templates of all environments",
      load: async () => (await deploying()).addSynth,
    },
    compare: {
      description: "list what a deployment would change out of the ordinary",
      load: async () => (await deploying()).addCompare,
    },
    diff: {
      description: "print every change that a deployment would make",
      load: async () => (await deploying()).addDiff,
    },
    deploy: {
      description: "compare, then deploy with CDK if every change is accepted",
      load: async () => (await deploying()).addDeploy,
    },
    drift: {
      description: "list what was changed by hand since the last deployment",
      load: async () => (await deploying()).addDrift,
    },
    smoke: {
      description: "check that a running service keeps its promises to clients",
      load: async () => (await import("./smoke/options.ts")).addSmoke,
    },
  },
};

const exitCodes = `
Exit codes:
  0    done
  1    failed; also a rejected key, a failed check, a change that isn't accepted, drift
  2    wrong use; also a comparison that can't be made, or nothing installed yet
  3-7  of orders ship, see its help
`;

/** The command line. Wrong use at any level prints one line and exits with 2. */
export function createProgram(): Script {
  const program = new Script("petstore")
    .description("Runs, operates and deploys the pet store orders service.")
    .version(packageJson.version)
    .showHelpAfterError("(see --help)")
    .exitOverride()
    .addHelpText("after", exitCodes);
  const loaders = new Map<string, Entry["load"]>();
  for (const [heading, entries] of Object.entries(groups)) {
    program.commandsGroup(heading);
    for (const [name, { description, load }] of Object.entries(entries)) {
      program.command(name).description(description);
      loaders.set(name, load);
    }
  }
  program
    .command("help [command...]")
    .helpGroup("More:")
    .description("print the help of a command")
    .action(async (words: string[]) => {
      await program.parseAsync([...words, "--help"], { from: "user" });
    });
  program.hook("preSubcommand", async (_program, command) => {
    const add = await loaders.get(command.name())?.();
    add?.(command);
  });
  return program;
}

if (import.meta.main) {
  // Each write to standard output handles its own failure.
  process.stdout.on("error", () => {});
  await createProgram().run(process.argv.slice(2));
}
