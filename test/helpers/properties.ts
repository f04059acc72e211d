import fc from "fast-check";

// A busy machine tries fewer cases and says how many. Otherwise a property would meet the time
// limit of its test, and go on beside the next one.
fc.configureGlobal({
  interruptAfterTimeLimit: 60_000,
  reporter: (run) => {
    const message = fc.defaultReportMessage(run);
    if (message !== undefined) throw new Error(message, { cause: run.errorInstance });
    const { interrupted, numRuns, runConfiguration } = run;
    if (interrupted)
      console.warn(`Tried ${numRuns} of ${runConfiguration.numRuns} cases in a minute`);
  },
});
