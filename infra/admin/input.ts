import { createReadStream } from "node:fs";
import { isInt64 } from "../../shared/order.ts";
import { callersPath } from "../local/machine/callers-path.ts";
import { fileError } from "../terminal/errors.ts";
import { standardInput } from "../terminal/input.ts";
import { linesOf } from "../terminal/lines.ts";
import type { Session } from "./command.ts";

/** The name of a file for messages; `-` is standard input. */
export function inputName(file: string): string {
  return file === "-" ? "standard input" : file;
}

/** Opens a file that the command line names; `-` is standard input. */
export function openInput(file: string) {
  return file === "-" ? standardInput() : createReadStream(callersPath(file));
}

/**
 * Reads the lines of a file, without the white space around them, and their places, like
 * `ids.txt:7`. Skips blank lines.
 *
 * @param file its name as the operator typed it; `-` is standard input.
 * @throws CommandError when it can't be read.
 */
export async function* inputLines(
  file: string,
): AsyncIterable<{ text: string; place: string }> {
  const name = inputName(file);
  let number = 0;
  try {
    for await (const line of linesOf(name, openInput(file).setEncoding("utf8"))) {
      number++;
      const text = line.trim();
      if (text !== "") yield { text, place: `${name}:${number}` };
    }
  } catch (error) {
    throw fileError(name, error);
  }
}

/**
 * Reads a file of order ids, one per line; `-` is standard input. It is wrong use of the command if
 * a line is not an id, or if there is none: the command before this one in a pipe may have failed.
 */
export async function readIds({ wrongUse }: Session, file = "-"): Promise<Set<string>> {
  const ids = await Array.fromAsync(inputLines(file), ({ text, place }) =>
    isInt64(text)
      ? text
      : wrongUse(`${place}: not a 64-bit integer: nothing was changed`),
  );
  if (ids.length === 0)
    wrongUse(`${inputName(file)} has no order ids: nothing was changed`);
  return new Set(ids);
}
