import type { ApiMethod, ApiResource } from "../../template/rest-api.ts";

export interface Route {
  resource: ApiResource;
  method: ApiMethod;
  /** The path's parameters, percent-decoded. */
  parameters: Record<string, string>;
}

/**
 * The method that serves a request, or undefined. The most specific resource that has the method (or ANY) wins, so
 * `{proxy+}` also catches the methods that more specific resources lack.
 *
 * @param path below the stage, as it was sent; a trailing slash is ignored.
 */
export function matchRoute(resources: ApiResource[], httpMethod: string, path: string): Route | undefined {
  const routes = resources.flatMap((resource) => {
    const method = resource.methods.get(httpMethod) ?? resource.methods.get("ANY");
    const parameters = method && matchPath(resource.path, path.replace(/\/+$/, ""));
    return method && parameters ? [{ resource, method, parameters }] : [];
  });
  const [best] = routes.sort((a, b) => (rank(a.resource.path) < rank(b.resource.path) ? -1 : 1));
  return best;
}

/** The parameters in a path that a resource's path, like `/pets/{petId}`, covers. */
function matchPath(resourcePath: string, path: string): Record<string, string> | undefined {
  const names: string[] = [];
  const pattern = resourcePath.replace(/\/$/, "").replaceAll(/[^{}]+|\{([^+}]+)(\+?)\}/g, (part, name, greedy) => {
    if (name === undefined) return RegExp.escape(part);
    names.push(name);
    return greedy ? "(.+)" : "([^/]+)";
  });
  const [match, ...values] = new RegExp(`^${pattern}$`, "s").exec(path) ?? [];
  if (match === undefined) return undefined;
  return Object.fromEntries(names.map((name, index) => [name, decode(values[index] ?? "")]));
}

/** Sorts text before parameters before a greedy parameter, segment by segment. */
function rank(path: string): string {
  return path.replaceAll(/[^/]+/g, (part) => (part.startsWith("{") ? (part.endsWith("+}") ? "2" : "1") : "0"));
}

/** Invalid percent-encoding is passed on as it is: the function decides what it names. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
