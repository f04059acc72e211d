import querystring from "node:querystring";
import type { ApiMethod } from "../../template/rest-api.ts";

export interface Route extends ApiMethod {
  /**
   * The path's parameters, percent-decoded. Invalid encoding is no error: the function decides what
   * it names.
   */
  parameters: Record<string, string>;
}

/**
 * The method that serves a request, or undefined. The most specific path that has the method (or
 * ANY) wins, so `{proxy+}` also catches the methods that more specific paths lack.
 *
 * @param sentPath below the stage, as it was sent; a trailing slash is ignored.
 */
export function matchRoute(
  methods: ApiMethod[],
  httpMethod: string,
  sentPath: string,
): Route | undefined {
  const path = sentPath.replace(/\/+$/, "") || "/";
  const [best] = methods
    .filter((method) => method.httpMethod === httpMethod || method.httpMethod === "ANY")
    .sort((a, b) => (rank(a) < rank(b) ? -1 : 1))
    .flatMap((method) => {
      const match = pattern(method.path).exec(path);
      const values = Object.entries(match?.groups ?? {}).map(([name, value]) => [
        name,
        querystring.unescape(value),
      ]);
      return match === null ? [] : [{ ...method, parameters: Object.fromEntries(values) }];
    });
  return best;
}

/** Matches the paths that a path with parameters, like `/pets/{petId}`, covers. */
function pattern(path: string): RegExp {
  const groups = RegExp.escape(path).replaceAll(/\\\{(\w+)(\\\+)?\\\}/g, (_, name, greedy) =>
    greedy ? `(?<${name}>.+)` : `(?<${name}>[^/]+)`,
  );
  return new RegExp(`^${groups}$`, "s");
}

/** Sorts text before parameters before a greedy parameter, segment by segment, and ANY last. */
function rank({ path, httpMethod }: ApiMethod): string {
  const segments = path.replaceAll(/[^/]+/g, (part) =>
    part.startsWith("{") ? (part.endsWith("+}") ? "2" : "1") : "0",
  );
  return `${segments} ${httpMethod === "ANY" ? 1 : 0}`;
}
