/** The lines that a running local stack itself, not a function, has logged. */
export function ownLines(log: string[]) {
  // Functions log JSON.
  return log.filter((line) => !line.startsWith("{") && !isProgress(line));
}

const isProgress = (line: string) => line === "Building the service...";

/** The lines about what went wrong. Rejected requests and clients that left don't count. */
export function troubles(log: string[]) {
  return log.filter((line) => {
    if (!line.startsWith("{")) return !isProgress(line);
    const { level, message } = JSON.parse(line);
    // The runtime logs what the authorizer throws for a rejected key, and a slow machine may let
    // the call that makes a function ready time out.
    const isExpected =
      level === "INFO" ||
      message.event === "not_ready" ||
      message.errorMessage === "Unauthorized";
    return !isExpected;
  });
}
