// Loads everything else, so that a syntax error anywhere is shown without a stack trace.
try {
  await import("./start-command.ts");
} catch (error) {
  if (!(error instanceof SyntaxError)) throw error;
  const [complaint] = `${error.stack}`.split("\n    at ");
  process.stderr.write(`${complaint}\n`);
  process.exitCode = 1;
}
