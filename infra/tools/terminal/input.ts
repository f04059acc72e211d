import { isUtf8 } from "node:buffer";
import { createReadStream } from "node:fs";
import { createInterface } from "node:readline/promises";
import { addAbortSignal } from "node:stream";
import { text } from "node:stream/consumers";
import { CommandError, fileError } from "./errors.ts";

/** The name of a file for messages; `-` is standard input. */
export function inputName(file: string): string {
  return file === "-" ? "standard input" : file;
}

/**
 * Opens a file that the command line names; `-` is standard input. On a terminal, says how to end
 * that.
 */
function openInput(file: string) {
  if (file !== "-") return createReadStream(file, { highWaterMark: 262_144 });
  if (process.stdin.isTTY) process.stderr.write("Reading standard input, up to Ctrl-D\n");
  return process.stdin;
}

const utf8 = new TextDecoder();

/**
 * Reads the lines of a file, each with its number, from 1, its place, like `ids.txt:7`, and whether
 * it is UTF-8. Skips blank lines.
 *
 * @param file a path, or `-` for standard input.
 * @param onRead called with the number of bytes read so far.
 * @throws CommandError when it can't be read; AbortError.
 */
export async function* inputLines(
  file: string,
  onRead?: (bytes: number) => void,
  signal?: AbortSignal,
) {
  const name = inputName(file);
  // Each character stands for a byte.
  const input = openInput(file).setEncoding("latin1");
  if (signal) addAbortSignal(signal, input);
  let line = 0;
  for await (const rawLine of linesOf(name, input)) {
    onRead?.(input.bytesRead);
    line++;
    const bytes = Buffer.from(rawLine, "latin1");
    // Decoded without the byte order mark that some Windows programs put at the start.
    const text = utf8.decode(bytes);
    if (text.trim() === "") continue;
    yield { line, text, place: `${name}:${line}`, isUtf8: isUtf8(bytes) };
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
async function* linesOf(name: string, blocks: AsyncIterable<string>) {
  let rest = "";
  try {
    for await (const block of blocks) {
      // Splits the block only: to split `rest` again each time would make a long line quadratic.
      const [first = "", ...others] = block.split("\n");
      const lines = [rest + first, ...others];
      rest = lines.pop() ?? "";
      yield* lines;
      if (rest.length > longestLine)
        throw new CommandError(
          `${name} has a line of more than 20 MB. Each order needs a line of its own`,
        );
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

/** Shows a warning, and asks whether to go on, unless that is agreed. */
export async function confirm(warning: string, isAgreed = false): Promise<boolean> {
  if (isAgreed) {
    process.stderr.write(`${warning}\n`);
    return true;
  }
  using terminal = createInterface({ input: process.stdin, output: process.stderr });
  return /^y(es)?$/i.test((await terminal.question(`${warning} Go on? [y/N] `)).trim());
}
