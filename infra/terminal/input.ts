import { createReadStream } from "node:fs";
import { resolve } from "node:path";
import { createInterface } from "node:readline/promises";
import { text } from "node:stream/consumers";
import { CommandError, fileError } from "./errors.ts";

/**
 * Resolves a path of `npm start` and `npm run admin` against the caller's folder: npm runs scripts
 * in the project's folder, and names the caller's in INIT_CWD.
 */
export function callersPath(path: string): string {
  const script = process.env["npm_lifecycle_event"];
  const underNpm = script === "start" || script === "admin";
  return resolve((underNpm && process.env["INIT_CWD"]) || ".", path);
}

/** The name of a file for messages; `-` is standard input. */
export function inputName(file: string): string {
  return file === "-" ? "standard input" : file;
}

/**
 * Opens a file that the command line names; `-` is standard input. On a terminal, says how to end
 * that.
 */
export function openInput(file: string) {
  if (file !== "-") return createReadStream(callersPath(file));
  if (process.stdin.isTTY) process.stderr.write("Reading standard input, up to Ctrl-D\n");
  return process.stdin;
}

/**
 * Reads the lines of a file, without the white space around them, and their places, like
 * `ids.txt:7`. Skips blank lines.
 *
 * @param file its name as the operator typed it; `-` is standard input.
 * @throws CommandError when it can't be read.
 */
export async function* inputLines(file: string) {
  const name = inputName(file);
  let number = 0;
  for await (const line of linesOf(name, openInput(file).setEncoding("utf8"))) {
    number++;
    const text = line.trim();
    if (text !== "") yield { text, place: `${name}:${number}` };
  }
}

/**
 * The longest line, in characters, so that a file without line breaks does not end up in memory.
 * The line of an order of 400 KB is shorter: at worst, it has a list of numbers like 1E+125, each 3
 * bytes in the table and 135 in a line.
 */
export const longestLine = 20_971_520;

/**
 * Splits the text of a file with this name into its lines, of which the last may be empty.
 *
 * @throws CommandError when it can't be read, or a line is longer than `longestLine`.
 */
export async function* linesOf(name: string, blocks: AsyncIterable<string>) {
  let rest = "";
  try {
    for await (const block of blocks) {
      // Splits the block only: to split `rest` again each time would make a long line quadratic.
      const [first = "", ...others] = block.split("\n");
      const lines = [rest + first, ...others];
      rest = lines.pop() ?? "";
      yield* lines;
      if (rest.length > longestLine)
        throw new CommandError(`${name} has a line of more than 20 MB`);
    }
  } catch (error) {
    throw fileError(name, error);
  }
  yield rest;
}

/**
 * Reads a secret from standard input, trimmed. On a terminal it asks for one line and does not echo
 * it.
 */
export async function readSecret(question: string): Promise<string> {
  if (!process.stdin.isTTY) return (await text(process.stdin)).trim();
  // Before the question: until it has the terminal, the terminal shows what is typed. Without an
  // output, it shows nothing itself.
  using terminal = createInterface({ input: process.stdin, terminal: true });
  process.stderr.write(question);
  const secret = await terminal.question("").finally(() => process.stderr.write("\n"));
  return secret.trim();
}
