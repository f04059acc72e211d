import { createReadStream } from "node:fs";

/** A line of a file: its number, from 1, and its text without the line ending; none if it is longer than any order. */
export interface FileLine {
  number: number;
  text: string | undefined;
}

/**
 * Bytes. An item of 400 KB takes less: at worst it is a list of numbers like 1E+125, each 3 bytes in the table and 135 in
 * a line. A binary file must not end up in memory as one line.
 */
export const longestLine = 20_971_520;
const lineFeed = 0x0a;
const carriageReturn = 0x0d;
/** The byte order mark that some Windows programs put at the start of a file. */
const byteOrderMark = Buffer.from("\ufeff");

/**
 * Reads the lines of a file that are not blank, a block at a time, in constant memory.
 *
 * @param onRead called after each block with the number of bytes read so far.
 */
export async function* readLines(
  path: string,
  onRead: (bytes: number) => void = () => {},
): AsyncGenerator<FileLine[], void, void> {
  let pieces: Buffer[] = [];
  let number = 0;
  let bytes = 0;
  for await (const block of createReadStream(path, { highWaterMark: 262_144 })) {
    if (!Buffer.isBuffer(block)) continue;
    const lines: FileLine[] = [];
    let start = bytes === 0 && block.indexOf(byteOrderMark) === 0 ? byteOrderMark.length : 0;
    for (let end = block.indexOf(lineFeed); end !== -1; end = block.indexOf(lineFeed, start)) {
      const text = lineText([...pieces, block.subarray(start, end)]);
      number++;
      if (text?.trim() !== "") lines.push({ number, text });
      pieces = [];
      start = end + 1;
    }
    if (sizeOf(pieces) <= longestLine + 1) pieces.push(block.subarray(start));
    bytes += block.length;
    onRead(bytes);
    yield lines;
  }
  const last = lineText(pieces);
  if (last?.trim() !== "") yield [{ number: number + 1, text: last }];
}

function lineText(pieces: Buffer[]): string | undefined {
  const line = Buffer.concat(pieces);
  const end = line.at(-1) === carriageReturn ? line.length - 1 : line.length;
  return end > longestLine ? undefined : line.toString("utf8", 0, end);
}

function sizeOf(pieces: Buffer[]): number {
  return pieces.reduce((size, { length }) => size + length, 0);
}
