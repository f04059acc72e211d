/** Replaces three of Node's modules, which evaluate all exports as ES modules. */
export const { createHash, createHmac, getRandomValues, hash, randomBytes } =
  process.getBuiltinModule("node:crypto");
export const { homedir, platform, release } = process.getBuiltinModule("node:os");
export const { env, versions } = process;
