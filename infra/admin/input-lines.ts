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

/**
 * Reads the lines of a file, but for those that are blank.
 *
 * @param file its name as the operator typed it; `-` is standard input.
 * @throws CommandError when it can't be read.
 */
export async function* inputLines(file: string): AsyncGenerator<InputLine, void, void> {
  const isStandardInput = file === "-";
  const name = isStandardInput ? "standard input" : file;
  const source = isStandardInput ? standardInput() : createReadStream(callersPath(file));
  let number = 0;
  try {
    for await (const line of linesOf(source.setEncoding("utf8"))) {
      number++;
      const text = line.trim();
      if (text !== "") yield { text, place: `${name}:${number}` };
    }
  } catch (error) {
    throw fileError(name, error);
  }
}
