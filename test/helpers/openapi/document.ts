import { readFileSync } from "node:fs";
import { parse } from "yaml";

/** The parts of the OpenAPI document that the tests read; `document.test.ts` holds the file to the whole format. */
export interface Document {
  servers: { url: string; variables: Record<string, { default: string }> }[];
  security: Record<string, string[]>[];
  tags: { name: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: {
    schemas: {
      Error: { required: string[]; properties: { code: ErrorCodeSchema } };
      Order: { properties: Record<string, { type: string; format?: string }> };
    };
    responses: Record<string, Response>;
    headers: Record<string, Header>;
    securitySchemes: Record<string, { type: string; scheme: string }>;
  };
  info: { version: string; description: string };
}

/** An open string: the known codes are in its description, its examples and an extension that generators ignore. */
interface ErrorCodeSchema {
  description: string;
  examples: string[];
  "x-extensible-enum": string[];
}

export interface Operation {
  operationId: string;
  tags: string[];
  security?: Record<string, string[]>[];
  responses: Record<string, Response | Reference>;
}

export interface Response {
  description: string;
  headers?: Record<string, Header | Reference>;
  content?: Record<string, { examples?: Record<string, { value: unknown }> }>;
}

export interface Header {
  required?: boolean;
}

export interface Reference {
  $ref: string;
}

export const documentFile = new URL("../../../shared/openapi.yaml", import.meta.url);

export const document: Document = parse(readFileSync(documentFile, "utf8"));

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

/** What a reference points to, and its pointer; anything else is returned as it is. */
export function follow<T extends object>(target: T | Reference, pointer: string): [T, string] {
  if (!("$ref" in target)) return [target, pointer];
  const parts = target.$ref
    .slice(2)
    .split("/")
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
  return [parts.reduce<never>((value, part) => value[part] as never, document as never), target.$ref];
}
