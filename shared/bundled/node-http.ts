/**
 * Replaces `node:http`: imported as an ES module, that evaluates all of its exports, and
 * so loads undici.
 */
export const { Agent, request, STATUS_CODES } = process.getBuiltinModule("node:http");
