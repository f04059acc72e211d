import querystring from "node:querystring";
import type { ApiMethod, RestApi } from "../template/rest-api.ts";
import { GatewayFailure } from "./gateway-failure.ts";
import type { GatewayRequest } from "./gateway-request.ts";

export interface Route extends ApiMethod {
  /**
   * The path's parameters, percent-decoded. Invalid encoding is not an error here: the function
   * rejects it.
   */
  parameters: Record<string, string>;
}

/**
 * The method that serves a request. The most specific path that has the method (or ANY) wins, so
 * `{proxy+}` also catches the methods that more specific paths lack. Of the request's path, `..` is
 * a segment like any other, which it would not be to URLPattern; trailing slashes are ignored.
 *
 * @throws GatewayFailure with API Gateway's type for a path that it doesn't know.
 */
export function matchRoute(
  { methods, stageName }: RestApi,
  request: GatewayRequest,
): Route {
  const path = request.resourcePath.replace(/\/+$/, "") || "/";
  const names = request.stage === stageName ? [request.method, "ANY"] : [];
  const serving = methods.filter(({ HttpMethod }) => names.includes(HttpMethod));
  for (const method of serving.sort((a, b) => (rank(a) < rank(b) ? -1 : 1))) {
    const match = pathPattern(method.path).exec(path);
    if (match === null) continue;
    const groups = Object.entries(match.groups ?? {});
    const decoded = groups.map(([name, value]) => [name, querystring.unescape(value)]);
    return { ...method, parameters: Object.fromEntries(decoded) };
  }
  throw new GatewayFailure("MISSING_AUTHENTICATION_TOKEN");
}

/** A pattern for the request paths that a path like `/pets/{petId}` covers, with named groups. */
function pathPattern(path: string) {
  const pattern = RegExp.escape(path).replaceAll(
    /\\\{(\w+)(\\\+)?\\\}/g,
    (_, name, greedy) => `(?<${name}>${greedy ? ".+" : "[^/]+"})`,
  );
  return new RegExp(`^${pattern}$`, "s");
}

/**
 * A sort key: in each segment, text comes before a parameter's brace, and that before `~`, which
 * stands for a greedy one. `ANY` comes last.
 */
function rank({ path, HttpMethod }: ApiMethod) {
  const segments = path.replace(/\{\w+\+\}/, "~");
  return `${segments} ${HttpMethod === "ANY" ? 1 : 0}`;
}
