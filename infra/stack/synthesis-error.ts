/** Why nothing is synthesised, for whoever made the mistake: the message is all they need. */
export class SynthesisError extends Error {}

/** Runs a synthesis. For a SynthesisError, prints its lines and exits with 1. */
export function synthesiseOrExplain(synthesise: () => void): void {
  try {
    synthesise();
  } catch (error) {
    if (!(error instanceof SynthesisError)) throw error;
    console.error(error.message);
    process.exit(1);
  }
}
