import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { parse } from "yaml";
import { isDateTime } from "../../shared/order.ts";

export interface DocumentedResponse {
  headers?: Record<string, { required?: boolean; schema: object }>;
  content?: Record<string, { schema: object; examples: Record<string, { value: unknown }> }>;
}

const text = readFileSync(new URL("../../shared/openapi.yaml", import.meta.url), "utf8");
const openapi = parse(text.replaceAll("x-extensible-enum:", "enum:"));

/** The parts of `shared/openapi.yaml` that responses are held to, with its references resolved. */
export const document: {
  /** Operations by path and lower-case method, and their responses by status. */
  paths: Record<string, Record<string, { responses: Record<string, DocumentedResponse> }>>;
  components: { responses: Record<string, DocumentedResponse> };
} = strict(openapi);

/** Its paths, with `none` for each parameter, and methods that each has and doesn't have. */
export const paths = Object.entries(document.paths).map(([template, operations]) => {
  const methods = Object.keys(operations).map((method) => method.toUpperCase());
  return {
    path: template.replaceAll(/\{\w+\}/g, "none"),
    methods: methods.sort(),
    otherMethods: ["PATCH", "PUT"].filter((method) => !methods.includes(method)),
  };
});

/** A request for each of its operations. Those for one order name an order that does not exist. */
export const documentedRequests = paths.flatMap(({ path, methods }) =>
  methods.map((method) => ({ method, path })),
);

/**
 * The document leaves objects and error codes open, so that later versions can add to them. A field
 * or a code that this version sends without documenting it is a mistake.
 */
function strict(node: unknown) {
  return JSON.parse(JSON.stringify(node), (_name, value) => {
    if (value?.$ref) {
      const names: string[] = value.$ref.split("/").slice(1);
      return strict(names.reduce((from, name) => from[name], openapi));
    }
    return value?.type === "object" ? { ...value, additionalProperties: false } : value;
  });
}

const ajv = addFormats.default(new Ajv2020({ allErrors: true, strict: false }));
// Stricter than the library's: no year 0, no offset beyond 18:00, no leap second.
ajv.addFormat("date-time", isDateTime);

/** A line for each way in which `value` breaks a schema of the document; `what` names the value. */
export function schemaProblems(schema: object, value: unknown, what: string): string[] {
  ajv.validate(schema, value);
  return (ajv.errors ?? []).map(
    ({ instancePath, message, params }) =>
      `${what}${instancePath} ${message} ${JSON.stringify(params)}`,
  );
}
