import { CommandError } from "./errors.ts";

/**
 * The longest line, in characters, so that a file without line breaks does not end up in memory.
 * The line of an order of 400 KB is shorter: at worst, it has a list of numbers like 1E+125, each 3
 * bytes in the table and 135 in a line.
 */
export const longestLine = 20_971_520;

/**
 * Splits the text of a file with this name into its lines, of which the last may be empty.
 *
 * @throws CommandError when a line is longer than `longestLine`.
 */
export async function* linesOf(
  name: string,
  blocks: AsyncIterable<string>,
): AsyncIterable<string> {
  let rest = "";
  for await (const block of blocks) {
    // Splits the block only: to split `rest` again each time would make a long line quadratic.
    const [first = "", ...others] = block.split("\n");
    const lines = [rest + first, ...others];
    rest = lines.pop() ?? "";
    yield* lines;
    if (rest.length > longestLine)
      throw new CommandError(`${name} has a line of more than 20 MB`);
  }
  yield rest;
}
