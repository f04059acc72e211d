/** Replaces Node's modules that evaluate all of their exports when imported as ES modules. */
export const { createHash, createHmac, getRandomValues, hash, randomBytes } =
  process.getBuiltinModule("node:crypto");
export const { Agent, request, STATUS_CODES } = process.getBuiltinModule("node:http");
export const { homedir, platform, release } = process.getBuiltinModule("node:os");
export const { env, versions } = process;
