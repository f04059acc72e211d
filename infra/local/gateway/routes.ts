import querystring from "node:querystring";
import type { ApiMethod } from "../template/rest-api.ts";

export interface Route extends ApiMethod {
  /**
   * The path's parameters, percent-decoded. Invalid encoding is not an error here: the function
   * rejects it.
   */
  parameters: Record<string, string>;
}

/**
 * The method that serves a request, or undefined. The most specific path that has the method (or
 * ANY) wins, so `{proxy+}` also catches the methods that more specific paths lack.
 *
 * @param requestPath below the stage, as it was sent; trailing slashes are ignored.
 */
export function matchRoute(
  methods: ApiMethod[],
  httpMethod: string,
  requestPath: string,
): Route | undefined {
  const path = requestPath.replace(/\/+$/, "") || "/";
  const candidates = methods
    .filter((method) => method.httpMethod === httpMethod || method.httpMethod === "ANY")
    .sort((a, b) => (rank(a) < rank(b) ? -1 : 1));
  for (const method of candidates) {
    const match = pathPattern(method.path).exec(path);
    if (match) return { ...method, parameters: decoded(match.groups) };
  }
  return undefined;
}

function decoded(groups: Record<string, string> = {}): Record<string, string> {
  const values = Object.entries(groups).map(([name, value]) => [name, querystring.unescape(value)]);
  return Object.fromEntries(values);
}

/** A pattern for the request paths that a path like `/pets/{petId}` covers. */
function pathPattern(path: string): RegExp {
  const segments = path.split("/").map(segmentPattern);
  return new RegExp(`^${segments.join("/")}$`, "s");
}

/** A parameter's pattern is a group of its name. */
function segmentPattern(segment: string): string {
  const { name, greedy } = /^\{(?<name>\w+)(?<greedy>\+?)\}$/.exec(segment)?.groups ?? {};
  if (name === undefined) return RegExp.escape(segment);
  return greedy ? `(?<${name}>.+)` : `(?<${name}>[^/]+)`;
}

/**
 * A sort key: in each segment, text comes before a parameter, and that before a greedy one; `ANY`
 * comes last.
 */
function rank({ path, httpMethod }: ApiMethod): string {
  const segments = path.replaceAll(/[^/]+/g, segmentRank);
  return `${segments} ${httpMethod === "ANY" ? 1 : 0}`;
}

function segmentRank(segment: string): string {
  if (segment.endsWith("+}")) return "2";
  return segment.startsWith("{") ? "1" : "0";
}
