import { readFileSync } from "node:fs";
import { parse } from "yaml";

/**
 * The parts of the OpenAPI document that only tests read; `document.test.ts` checks the whole file.
 */
interface Document {
  info: { version: string; description: string };
  servers: { url: string; variables: Record<string, { default: string }> }[];
  security: object[];
  paths: Record<
    string,
    Record<
      string,
      { operationId: string; summary: string; tags: string[]; security?: object[] }
    >
  >;
  components: {
    schemas: {
      Error: { required: string[]; properties: { code: ErrorCodeSchema } };
      Order: { properties: Record<string, { type: string; format?: string }> };
    };
    securitySchemes: Record<string, { type: string; scheme: string }>;
  };
}

/** An open string: the known codes are in an extension that generators ignore. */
interface ErrorCodeSchema {
  "x-extensible-enum": string[];
}

export const documentFile = new URL("../../../shared/openapi.yaml", import.meta.url);

export const document: Document = parse(readFileSync(documentFile, "utf8"));
