// Preloaded by every script, so that an old Node says one line instead of failing to parse TypeScript.
if (Number(process.versions.node.split(".")[0]) < 24) {
  console.error(
    `This project runs on Node 24, as its Lambda functions do; this is ${process.version}. Install Node 24 or newer, then run npm ci again.`,
  );
  process.exit(1);
}
