import fc from "fast-check";

const limit = 60_000;

/** Any character. fast-check's own "binary" lists all of them first, which takes most of a second. */
export const character = fc
  .nat(0x10_ffff - 0x800)
  .map((code) => String.fromCodePoint(code < 0xd800 ? code : code + 0x800));

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
