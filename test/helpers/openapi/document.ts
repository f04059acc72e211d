import { readFileSync } from "node:fs";
import { parse } from "yaml";

/** The parts that tests read. */
interface Document {
  info: { description: string };
  servers: object[];
  security: object[];
  paths: Record<
    string,
    Record<
      string,
      { operationId: string; summary: string; description: string; security?: object[] }
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
    securitySchemes: object;
  };
}

export const documentFile = new URL("../../../shared/openapi.yaml", import.meta.url);

export const document: Document = parse(readFileSync(documentFile, "utf8"));
