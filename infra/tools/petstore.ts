import type { Command } from "commander";
import { Script } from "./terminal/script.ts";

/** A command: what it does, and the module that adds its options, which takes a while to load. */
interface Room {
  description: string;
  load(): Promise<(command: Command) => unknown>;
}

const deploying = () => import("./deploy/commands.ts");

const rooms: Record<string, Room> = {
  start: {
    description: "run the service on this machine",
    load: async () => (await import("./local/start-options.ts")).addStart,
  },
  keys: {
    description: "issue, list, revoke, check and repair API keys",
    load: async () => (await import("./admin/program.ts")).addKeyCommands,
  },
  orders: {
    description: "import, export, ship, list, count, show, audit and mend orders",
    load: async () => (await import("./admin/program.ts")).addOrderCommands,
  },
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
    description: "compare, then deploy with CDK if every finding is accepted",
    load: async () => (await deploying()).addDeploy,
  },
  drift: {
    description: "list what was changed by hand since the last deployment",
    load: async () => (await deploying()).addDrift,
  },
  smoke: {
    description: "check that a deployed service does what it promises its clients",
    load: async () => (await import("./smoke/options.ts")).addSmoke,
  },
};

/** The command line. Wrong use at any level prints one line and exits with 2. */
export function createProgram(): Script {
  const program = new Script("petstore")
    .description("Runs, deploys and operates the pet store orders service.")
    .helpCommand(false)
    .showHelpAfterError("(see --help)")
    .exitOverride();
  for (const [name, { description }] of Object.entries(rooms))
    program.command(name).description(description);
  program.hook("preSubcommand", async (_program, command) => {
    const add = await rooms[command.name()]?.load();
    add?.(command);
  });
  return program;
}

/** The command line with the options of every command. */
export async function loadProgram(): Promise<Script> {
  const program = createProgram();
  for (const command of program.commands)
    (await rooms[command.name()]?.load())?.(command);
  return program;
}

if (import.meta.main) {
  // Each write to standard output handles its own failure.
  process.stdout.on("error", () => {});
  await createProgram().run(process.argv.slice(2));
}
