import { readFileSync } from "node:fs";
import { parse } from "yaml";

/** The parts of `shared/openapi.yaml` that responses are held to. */
export interface Document {
  paths: Record<string, Record<string, Operation>>;
  components: { responses: Record<string, DocumentedResponse> };
}

export interface Operation {
  responses: Record<string, DocumentedResponse | Reference>;
}

export interface DocumentedResponse {
  headers?: Record<string, { required?: boolean } | Reference>;
  content?: Record<string, { examples?: Record<string, { value: unknown }> }>;
}

interface Reference {
  $ref: string;
}

export const document: Document = parse(readFileSync(new URL("../../shared/openapi.yaml", import.meta.url), "utf8"));

/** Every operation of the document, named like `GET /store/orders`, with the pointer to it. */
export const operations = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({
    name: `${method.toUpperCase()} ${path}`,
    method: method.toUpperCase(),
    path,
    operation,
    pointer: `#/paths/${pointerPart(path)}/${method}`,
  })),
);

/** One part of a JSON pointer. */
export function pointerPart(text: string): string {
  return text.replaceAll("~", "~0").replaceAll("/", "~1");
}

/** Follows a reference to its target, and returns that with its pointer; anything else is returned as it is. */
export function follow<T extends object>(target: T | Reference, pointer: string): [T, string] {
  if (!("$ref" in target)) return [target, pointer];
  const parts = target.$ref
    .slice(2)
    .split("/")
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
  return [parts.reduce<never>((value, part) => value[part] as never, document as never), target.$ref];
}
