import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { document } from "./document.ts";

// The document leaves its objects open, so that a field may come with a later version; a field that comes without the
// document saying so is a mistake.
const ajv = addFormats.default(new Ajv2020({ allErrors: true, strict: false }));
ajv.addSchema(closed(document) as object, "openapi.yaml");

function closed(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(closed);
  if (typeof node !== "object" || node === null) return node;
  const entries = Object.fromEntries(Object.entries(node).map(([key, value]) => [key, closed(value)]));
  return entries["type"] === "object" ? { ...entries, additionalProperties: false } : entries;
}

const validators = new Map<string, ValidateFunction>();

/** What the schema at `pointer` in the document has against `value`; `what` names it in the answer. */
export function schemaProblems(pointer: string, value: unknown, what: string): string[] {
  const validate = validators.get(pointer) ?? ajv.compile({ $ref: `openapi.yaml${encodeURI(pointer)}` });
  validators.set(pointer, validate);
  if (validate(value)) return [];
  return (validate.errors ?? []).map(
    ({ instancePath, message, params }) => `${what}${instancePath} ${message} ${JSON.stringify(params)}`,
  );
}
