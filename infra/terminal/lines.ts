/**
 * Splits a text into its lines, in the memory of the longest one. Ends after the first line that is
 * longer than this many characters, or with the text: its last line may be empty.
 */
export async function* linesOf(
  blocks: AsyncIterable<string>,
  longest = Number.POSITIVE_INFINITY,
): AsyncIterable<string> {
  let rest = "";
  for await (const block of blocks) {
    // Splits the block only: to split `rest` again each time would make a long line quadratic.
    const [first = "", ...others] = block.split("\n");
    const lines = [rest + first, ...others];
    rest = lines.pop() ?? "";
    yield* lines;
    if (rest.length > longest) break;
  }
  yield rest;
}
