/** The words and the exit code of each outcome, the gravest last. */
export const outcomes = {
  shipped: ["has shipped", 0],
  already_shipped: ["had already shipped", 3],
  cancelled: ["is cancelled and can't ship", 4],
  not_found: ["does not exist", 5],
  /** Its status is unknown to us, or missing. */
  not_pending: ["is not pending and can't ship", 6],
  not_tried: ["was not tried", 1],
  unknown: ["may have shipped or not", 7],
} as const;

export type Outcome = keyof typeof outcomes;

/** The exit codes, for the help. */
export const shipExitCodes = [
  "",
  "Exit code, the gravest of the orders', which is the last of these:",
  ...Object.values(outcomes).map(([text, code]) => `  ${code}  ${text}`),
].join("\n");
