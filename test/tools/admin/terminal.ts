import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeEach, expect, vi } from "vitest";
import {
  attributeJson,
  reviveBinary,
} from "../../../infra/tools/orders-file/attributes.ts";
import {
  formatOrderLine,
  parseOrderLine,
} from "../../../infra/tools/orders-file/order-line.ts";
import {
  type RunningStack,
  writeStackFile,
} from "../../../infra/tools/running-stacks/stack-files.ts";
import { jsonText } from "../../../infra/tools/terminal/text.ts";
import type { OrderItem as Item } from "../../../shared/order.ts";
import { petstore, root } from "../../helpers/admin-command.ts";
import { createTable } from "../../helpers/create-table.ts";
import type { Choice } from "../../helpers/faults/fault-proxy.ts";
import { tableWriter } from "../../helpers/table-writer.ts";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";
import { createTestTables } from "../../helpers/test-tables.ts";
import { type Ended, run } from "../run.ts";
import { deployProduction } from "./production.ts";
import { seenIn, sessionOf, wordsOf } from "./transcript.ts";

interface Circumstances {
  calls?: Choice;
  terminals?: Parameters<typeof run>[2];
  now?: string;
  /** The local stacks, by default one that runs. */
  stacks?: RunningStack[];
}

interface ProcessOptions extends Pick<Circumstances, "calls"> {
  /** A shell's, for which `"$0" "$@"` is the command. */
  script?: string;
  input?: string | null;
  env?: Record<string, string>;
}

interface Sent {
  operation: string;
  authorization: string;
  ConsistentRead?: boolean;
  RequestItems?: { ORDERS?: { ConsistentRead: boolean; Keys: Item[] } };
}

/** Creates the tables of the calling test file, and a folder in which an operator runs commands. */
export async function createTerminal() {
  const tables = await createTestTables();
  const { client, dynamodbEndpoint, items } = tables;
  const { orders, apiKeys } = tables.tables;
  const { path: folder, remove } = await temporaryFolder();
  const stackFiles = join(folder, "stacks");
  const running: ChildProcess[] = [];
  afterAll(async () => {
    for (const child of running) child.kill("SIGKILL");
    await remove();
  });
  let copy: string;
  let isCopied: boolean;
  beforeEach(() => {
    copy = `Copy-${randomUUID()}`;
    isCopied = false;
    vi.stubEnv("LOCAL_STACKS", stackFiles);
    process.chdir(folder);
    return () => {
      process.chdir(root);
      vi.restoreAllMocks();
    };
  });

  const stackAt = (endpoint = dynamodbEndpoint, port = 1) => ({
    startedAt: port,
    baseUrl: `http://localhost:${port}/v1`,
    dynamodbEndpoint: endpoint,
    tables: tables.tables,
  });
  const pointTo = async (...stacks: RunningStack[]) => {
    await rm(stackFiles, { recursive: true, force: true });
    stacks.forEach(writeStackFile);
  };

  /** Puts the item of a line into a table. The first into the copy creates it. */
  async function put(line: string, table = orders): Promise<void> {
    const json = JSON.parse(line, reviveBinary);
    if (table === copy && !isCopied) {
      isCopied = true;
      await createTable(client, json.keyId ? "apiKeys" : "orders", copy);
    }
    const { putKey, putOrder } = tableWriter(client, { orders: table, apiKeys: table });
    const record = Object.entries(json).map(([name, value]) => [
      name,
      value ?? undefined,
    ]);
    if (json.keyId) await putKey(Object.fromEntries(record), json.keyId);
    else await putOrder(json.id.N ? json : Object(parseOrderLine(line)).item);
  }

  async function perform(
    line: string,
    input: string,
    terminals: Circumstances["terminals"],
  ): Promise<string[]> {
    const names = Object.entries(tableNames());
    const command = names.reduce(
      (text, [name, table]) => text.replaceAll(name, table),
      line,
    );
    const [verb, name = "", item] = wordsOf(command);
    switch (verb) {
      case "put":
        await (item ? put(item, name) : put(name));
        return [];
      case "save":
        await writeFile(name, input);
        return [];
      case "table":
        return (await items(name === apiKeys ? "apiKeys" : "orders")).map(lineOf).sort();
      default: {
        const [words = "", sort] = command.split(" | ");
        const onTarget = words.includes("--env")
          ? words
          : words.replace(/^\S+ \S+/, "$& --local");
        const ended = await run(onTarget, input, terminals);
        return linesOf(ended, sort !== undefined).map(named);
      }
    }
  }

  const tableNames = () => ({ ORDERS: orders, KEYS: apiKeys, COPY: copy });
  const named = (text: string) =>
    Object.entries(tableNames()).reduce(
      (all, [name, table]) => all.replaceAll(table, name),
      text,
    );

  /**
   * Plays a session at a terminal: `$ ` begins a command, `> ` its input, and the rest is what it
   * prints: standard output, standard error after `! `, and the exit code unless it is 0. `…`
   * stands for any text, or alone for any lines, and ⌫ for erasing the progress line. A line that
   * ends with `\` goes on below.
   *
   * Besides the operators' commands, `put [TABLE] ITEM` puts a line of an orders file, a key's
   * record or DynamoDB's own JSON into a table, `table [TABLE]` prints one, `save FILE` writes a
   * file. The tables are ORDERS, KEYS and COPY. `| sort` sorts standard output.
   *
   * @returns the inputs of the calls to the engine, if `calls` is given, or it is watched.
   */
  const playIn = ({ calls, terminals, now, stacks }: Circumstances) =>
    vi.defineHelper(async (strings: TemplateStringsArray, ...values: unknown[]) => {
      const sent: Sent[] = [];
      const record: Choice = (call) => {
        const { operation, headers } = call;
        const input = JSON.parse(named(call.input));
        sent.push({ operation, authorization: `${headers.authorization}`, ...input });
        return calls?.(call);
      };
      const endpoint = calls && (await tables.behindProxy(record)).proxy.endpoint;
      await pointTo(...(stacks ?? [stackAt(endpoint)]));
      const session = sessionOf(strings, values);
      if (session.includes("--env")) {
        deployProduction({ orders, apiKeys });
        vi.stubEnv("AWS_ENDPOINT_URL_DYNAMODB", endpoint ?? dynamodbEndpoint);
      }
      if (now) vi.useFakeTimers({ toFake: ["Date"], now: new Date(now) });
      const seen = await seenIn(session, (line, input) =>
        perform(line, input, terminals),
      );
      expectSession(seen, session);
      return { sent };
    });

  /** Starts a command as a process of its own; `input` null leaves its standard input open. */
  async function start(
    command: string,
    { script = 'exec "$0" "$@"', input = "", env = {}, calls }: ProcessOptions = {},
  ) {
    const endpoint = calls && (await tables.behindProxy(calls)).proxy.endpoint;
    await pointTo(stackAt(endpoint));
    const [memory = "", program = ""] = petstore;
    const words = [memory, join(root, program), ...command.split(" "), "--local"];
    const { PATH, NODE_COMPILE_CACHE, TMPDIR } = process.env;
    const child = spawn("sh", ["-c", script, process.execPath, ...words], {
      cwd: folder,
      env: {
        PATH,
        NODE_COMPILE_CACHE,
        TMPDIR,
        HOME: folder,
        LOCAL_STACKS: stackFiles,
        ...env,
      },
    });
    // The command may exit before it has read its input.
    child.stdin.on("error", () => {});
    if (input !== null) child.stdin.end(input);
    running.push(child);
    const ended = Promise.all([
      once(child, "close"),
      text(child.stdout),
      text(child.stderr),
    ]);
    return {
      child,
      ended: ended.then(([[code], stdout, stderr]): Ended => ({ code, stdout, stderr })),
    };
  }

  return {
    ...tables,
    folder,
    stackFiles,
    stackAt,
    pointTo,
    put,
    play: playIn({}),
    playWatched: playIn({ calls: () => undefined }),
    playIn,
    start,
  };
}

function linesOf({ code, stdout, stderr }: Ended, isSorted: boolean): string[] {
  const lines = (printed: string): string[] => {
    const shown = printed
      .replaceAll("\u001b[1G\u001b[2K", "⌫")
      .replaceAll(/_[0-9A-Za-z]{49}\b/g, "_SECRET")
      .replace(/(?<=.)$/, " (no end of line)\n");
    return shown.split("\n").slice(0, -1);
  };
  const printed = isSorted ? lines(stdout).sort() : lines(stdout);
  const exit = code === 0 ? [] : [`exit ${code}`];
  return [...printed, ...lines(stderr).map((line) => `! ${line}`), ...exit];
}

function lineOf(item: Item): string {
  const { keyId, keyHash: _, ...fields } = item;
  if (!keyId) return formatOrderLine(item) ?? jsonText(attributeJson(item));
  const plain = Object.entries(fields).map(([name, { S, N }]) => [name, S ?? Number(N)]);
  return JSON.stringify({ keyId: keyId.S, ...Object.fromEntries(plain.sort()) });
}

/** Fails where the session was played: a stack that names the helper hides from vitest who called it. */
function expectSession(seen: string, session: string) {
  try {
    expect(seen).toBe(session);
  } catch (error) {
    if (error instanceof Error) error.stack = "";
    throw error;
  }
}
