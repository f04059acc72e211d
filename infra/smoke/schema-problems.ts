import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { isDateTime } from "../../shared/order.ts";
import { document } from "./document.ts";

// The document leaves objects and error codes open, so that later versions can add to them. A field or a code that this
// version sends without documenting it is a mistake.
const ajv = addFormats.default(new Ajv2020({ allErrors: true, strict: false }));
// Stricter than the library's: no year 0, no offset beyond 18:00, no leap second.
ajv.addFormat("date-time", isDateTime);
ajv.addSchema(closed(document) as object, "openapi.yaml");

function closed(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(closed);
  if (typeof node !== "object" || node === null) return node;
  const entries = Object.fromEntries(Object.entries(node).map(([key, value]) => [key, closed(value)]));
  const codes = entries["x-extensible-enum"];
  return {
    ...entries,
    ...(entries["type"] === "object" ? { additionalProperties: false } : {}),
    ...(codes === undefined ? {} : { enum: codes }),
  };
}

const validators = new Map<string, ValidateFunction>();

/** A line for each way in which `value` breaks the schema at `pointer` in the document; `what` names the value. */
export function schemaProblems(pointer: string, value: unknown, what: string): string[] {
  const validate = validators.get(pointer) ?? ajv.compile({ $ref: `openapi.yaml${encodeURI(pointer)}` });
  validators.set(pointer, validate);
  if (validate(value)) return [];
  return (validate.errors ?? []).map(
    ({ instancePath, message, params }) => `${what}${instancePath} ${message} ${JSON.stringify(params)}`,
  );
}
