// CommonJS with nothing newer than Node 20, because an old Node.js has to read it too.
const { optionalDependencies } = require("../../../../package.json");

const platform = `${process.platform}-${process.arch}`;
const enginePackage = `@dynoxide/${platform}`;
const engineVersion = optionalDependencies[enginePackage];

/** The embedded engine's program, or undefined where its package isn't installed. */
exports.enginePath = function enginePath() {
  try {
    return require.resolve(`${enginePackage}/dynoxide`);
  } catch {
    return undefined;
  }
};

/** Lists what this machine lacks, Node 24 too if `isOld`, with the commands that provide it. */
exports.missing = function missing(isOld = false) {
  const lacks = [];
  if (isOld) {
    lacks.push(`Node 24, as the Lambda functions run on it; this is ${process.version}:
    npm ci, or where npm has none for this machine, https://nodejs.org and npm ci again`);
    const { header } = process.report.getReport();
    if (process.platform === "linux" && header.glibcVersionRuntime === undefined) {
      lacks.push("glibc: Alpine and other systems on musl are not supported");
    }
  }
  if (exports.enginePath() === undefined) {
    const npm = engineVersion
      ? `\n    npm install --no-save ${enginePackage}@${engineVersion}`
      : "";
    lacks.push(`a DynamoDB engine. Any of these commands provides one:${npm}
    brew install nubo-db/tap/dynoxide && dynoxide --port 8000
    docker run --rm -p 127.0.0.1:8000:8000 ghcr.io/nubo-db/dynoxide
  and after either of the last two, DYNAMODB_ENDPOINT=http://localhost:8000 npm start`);
  }
  return [`This machine (${platform}) lacks`, ...lacks.map((lack) => `- ${lack}`)].join(
    "\n",
  );
};
