import type { ApiMethod } from "../template/methods.ts";
import type { ApiResource } from "../template/rest-api.ts";

export interface Route {
  resource: ApiResource;
  method: ApiMethod;
  /** The path's parameters, percent-decoded. */
  parameters: Record<string, string>;
}

/**
 * The method that serves a request, or undefined. The most specific resource that has the method (or ANY) wins; a
 * `{proxy+}` also catches what more specific resources have no method for.
 *
 * @param path below the stage, as it was sent; a slash at its end is ignored.
 */
export function matchRoute(resources: ApiResource[], httpMethod: string, path: string): Route | undefined {
  const segments = path.replace(/\/+$/, "").split("/").slice(1);
  let best: (Route & { rank: string }) | undefined;
  for (const resource of resources) {
    const method = resource.methods.get(httpMethod) ?? resource.methods.get("ANY");
    const match = method === undefined ? undefined : matchPath(resource.path, segments);
    if (method === undefined || match === undefined || (best !== undefined && best.rank <= match.rank)) continue;
    best = { resource, method, ...match };
  }
  return best;
}

/** The rank sorts texts before parameters before a greedy parameter, from the first segment on. */
function matchPath(path: string, segments: string[]): (Pick<Route, "parameters"> & { rank: string }) | undefined {
  const parameters: Record<string, string> = {};
  const parts = path.split("/").filter((part) => part !== "");
  let rank = "";
  for (const [index, part] of parts.entries()) {
    const segment = segments[index];
    const [, name, greedy] = /^\{([^+}]+)(\+)?\}$/.exec(part) ?? [];
    if (segment === undefined) return undefined;
    if (name === undefined) {
      if (part !== segment) return undefined;
      rank += "0";
    } else if (greedy === undefined) {
      if (segment === "") return undefined;
      parameters[name] = decode(segment);
      rank += "1";
    } else {
      parameters[name] = decode(segments.slice(index).join("/"));
      return { parameters, rank: `${rank}2` };
    }
  }
  return parts.length === segments.length ? { parameters, rank } : undefined;
}

/** Text that is no valid percent-encoding stands for itself: it names nothing, which is for the function to say. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
