// Preloaded by every script, so that an old Node says what to do instead of failing to parse
// TypeScript.
if (Number(process.versions.node.split(".")[0]) < 24) {
  console.error(require("./local/machine/missing.cjs").missing());
  process.exit(1);
}
