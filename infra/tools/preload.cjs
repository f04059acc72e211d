// Preloaded by every script of package.json: ends it when something is missing, and says in a line what has ended
// one of ours and what to do about it.
// CommonJS with nothing newer than Node 20, because an old Node.js has to read it too.
const { accessSync, constants, existsSync } = require("node:fs");
const { tmpdir } = require("node:os");

const [, script = ""] = process.argv;
/** Programs of others report their own errors. */
const isOurs = script.endsWith(".ts");
const isInstalled = existsSync(`${__dirname}/../../node_modules`);
const isOld = Number(process.versions.node.split(".")[0]) < 24;
if (!isInstalled || (script.includes("node_modules") && !existsSync(script)))
  end("The packages are not all installed. Run: npm ci --include=dev");
if (isOld) end(require("./local/machine/missing.cjs").missing(isOld));

try {
  accessSync(`${tmpdir()}/.`, isOurs ? constants.F_OK : constants.W_OK);
} catch {
  end(
    `The temporary folder ${tmpdir()} can't be used. Set TMPDIR to one that can be written`,
  );
}

if (isOurs) {
  process.on("uncaughtException", (error) => {
    const [place] = `${error?.stack}`.split("\n    at ");
    // The place comes first when a source can't be parsed, which errors.ts itself may be.
    const isSource =
      error instanceof SyntaxError && !/^SyntaxError|node_modules/.test(place);
    if (isSource) end(place);
    import("./terminal/errors.ts").then(({ errorText }) => end(errorText(error)));
  });
}

function end(text) {
  console.error(text);
  process.exit(1);
}
