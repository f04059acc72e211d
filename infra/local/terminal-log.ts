/**
 * A line of a log as a terminal shows it. A rejected key is logged as an error, with a stack trace,
 * because Lambda's runtime logs whatever an authorizer throws; here it is a client's mistake.
 */
export function forTerminal(line: string): string {
  const isRejectedKey = line.includes('"errorMessage":"Unauthorized"');
  return isRejectedKey ? "Rejected a key that is unknown, expired or revoked: 401" : line;
}
