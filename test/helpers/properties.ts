import fc from "fast-check";

const limit = 60_000;

// A busy machine tries fewer cases and says how many. Otherwise a property would meet the time limit
// of its test. The case that has begun ends first, so that it doesn't go on beside the next test.
fc.installGlobalPlugin(() => {
  const end = performance.now() + limit;
  return {
    decorateRun: (run) => (value) =>
      performance.now() < end ? run(value) : new fc.PreconditionFailure(true),
  };
});
fc.configureGlobal({
  reporter: (run) => {
    const message = fc.defaultReportMessage(run);
    if (message !== undefined) throw new Error(message, { cause: run.errorInstance });
    const { interrupted, numRuns, runConfiguration } = run;
    if (interrupted)
      console.warn(`Tried ${numRuns} of ${runConfiguration.numRuns} cases in a minute`);
  },
});
