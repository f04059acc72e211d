// Loads everything else, so that a syntax error anywhere is shown without the calls that led there.
try {
  await import("./start-command.ts");
} catch (error) {
  if (!(error instanceof SyntaxError)) throw error;
  const [complaint] = `${error.stack}`.split("\n    at ");
  process.stderr.write(`${complaint}\n`);
  process.exitCode = 1;
}
