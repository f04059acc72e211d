import { readFileSync } from "node:fs";
import { parse } from "yaml";

/** The parts that tests read. */
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
      Error: {
        required: string[];
        properties: { code: { "x-extensible-enum": string[] } };
      };
      Order: { properties: Record<string, { type: string; format?: string }> };
    };
    securitySchemes: Record<string, { type: string; scheme: string }>;
  };
}

export const documentFile = new URL("../../../shared/openapi.yaml", import.meta.url);

export const document: Document = parse(readFileSync(documentFile, "utf8"));
