import { z } from "zod";

/** A line that a function logged, in Lambda's JSON format. */
const loggedSchema = z.object({
  level: z.string(),
  message: z.union([
    z.object({ event: z.string().optional(), errorMessage: z.string().optional() }),
    z.string().transform((text) => ({ event: text, errorMessage: undefined })),
  ]),
});

/**
 * The lines that a local stack itself has logged, not its functions: a process crashed or timed
 * out, or the gateway failed.
 */
export function ownLines(log: string[]): string[] {
  // Functions log JSON.
  return log.filter((line) => !line.startsWith("{"));
}

/**
 * A line for everything in a local stack's log that went wrong. Rejected requests and clients that
 * left don't count.
 */
export function troubles(log: string[]): string[] {
  const ofFunctions = log.flatMap((line) => {
    if (!line.startsWith("{")) return [];
    const { level, message } = loggedSchema.parse(JSON.parse(line));
    // The runtime logs what the authorizer throws for a rejected key, and a slow machine may let
    // the call that makes a function ready time out.
    const isExpected =
      level === "INFO" ||
      message.event === "not_ready" ||
      message.errorMessage === "Unauthorized";
    if (isExpected) return [];
    return [level, message.event, message.errorMessage].filter(Boolean).join(" ");
  });
  return [...ownLines(log), ...ofFunctions];
}
