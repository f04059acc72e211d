import { createReadStream } from "node:fs";
import { callersPath } from "../local/machine/callers-path.ts";
import { fileError } from "../terminal/errors.ts";
import { standardInput } from "../terminal/input.ts";
import { linesOf } from "../terminal/lines.ts";

/** A line of a file that the command line names, without the white space around it. */
interface InputLine {
  text: string;
  /** Like `ids.txt:7`. */
  place: string;
}

/** The name of a file for messages; `-` is standard input. */
export function inputName(file: string): string {
  return file === "-" ? "standard input" : file;
}

/** Opens a file that the command line names; `-` is standard input. */
export function openInput(file: string) {
  return file === "-" ? standardInput() : createReadStream(callersPath(file));
}

/**
 * Reads the lines of a file, but for those that are blank.
 *
 * @param file its name as the operator typed it; `-` is standard input.
 * @throws CommandError when it can't be read.
 */
export async function* inputLines(file: string): AsyncIterable<InputLine> {
  const name = inputName(file);
  let number = 0;
  try {
    for await (const line of linesOf(openInput(file).setEncoding("utf8"))) {
      number++;
      const text = line.trim();
      if (text !== "") yield { text, place: `${name}:${number}` };
    }
  } catch (error) {
    throw fileError(name, error);
  }
}
