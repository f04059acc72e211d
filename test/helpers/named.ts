import { resolveIntrinsics } from "../../infra/tools/intrinsics.ts";

/** A part of a template with names instead of references to other resources. */
export function named(part: unknown): unknown {
  return resolveIntrinsics(part, (id, attribute = "") =>
    `${constructId(id)}.${attribute}`.replace(/\.$/, ""),
  );
}

/** The id of a resource's construct. */
export function constructId(logicalId: string) {
  return logicalId.replace(/[0-9A-F]{8}$/, "");
}
