/**
 * Replaces three of Node's modules: imported as ES modules, those evaluate all of their
 * exports.
 */
export const { createHash, createHmac, getRandomValues, randomBytes } =
  process.getBuiltinModule("node:crypto");
export const { homedir, platform, release } = process.getBuiltinModule("node:os");
export const { env, versions } = process;
