import { once } from "node:events";
import type { BadLine } from "../orders-file/orders-file.ts";
import { jsonText, printable } from "./terminal-text.ts";

/** How an import ended. What was neither written nor there already has failed, tried or not. */
interface Counts {
  orders: number;
  bad: number;
  written: number;
  alreadyThere: number;
}

/** Tells what an import finds and does, as it goes: a file can have more bad lines than memory should hold. */
export interface ImportReport {
  bad(line: BadLine): Promise<void>;
  end(counts: Counts): Promise<void>;
}

/** The report of an import of the file called `name`: bad lines on standard error and counts on standard output, or JSON. */
export function importReport(name: string, json: boolean): ImportReport {
  return json ? jsonReport() : textReport(printable(name));
}

function textReport(name: string): ImportReport {
  return {
    bad: ({ line, problems }) => write(process.stderr, `${name}:${line}: ${printable(problems.join("; "))}\n`),
    async end({ orders, bad, written, alreadyThere }) {
      if (bad > 0) {
        await write(process.stderr, `${bad} of ${orders} lines are bad: nothing was written\n`);
        return;
      }
      const failed = orders - written - alreadyThere;
      await write(
        process.stdout,
        `${orders} orders: ${written} written, ${alreadyThere} already there, ${failed} failed\n`,
      );
    },
  };
}

/** One object, whose bad lines are written as they are found. */
function jsonReport(): ImportReport {
  let separator = '{"badLines":[';
  return {
    async bad(line) {
      await write(process.stdout, `${separator}\n${jsonText(line)}`);
      separator = ",";
    },
    async end({ orders, written, alreadyThere }) {
      const counts = { orders, written, alreadyThere, failed: orders - written - alreadyThere };
      const list = separator === "," ? "]" : `${separator}]`;
      await write(process.stdout, `${list},${jsonText(counts).slice(1)}\n`);
    },
  };
}

async function write(stream: NodeJS.WriteStream, text: string): Promise<void> {
  if (!stream.write(text)) await once(stream, "drain");
}
