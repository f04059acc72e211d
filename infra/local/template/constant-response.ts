import { z } from "zod";
import { ignoring } from "./checked.ts";
import type { Template } from "./template.ts";

/** A response that the gateway gives by itself, the same each time. */
export interface ConstantResponse {
  headers: Record<string, string>;
  contentType: string;
  body: string;
}

export interface GatewayResponse extends ConstantResponse {
  /** Undefined: the default of its type. */
  status: number | undefined;
}

const constant = z.string().regex(/^[^$#]*$/, "only constant text is supported, no template language");

/** The body of a constant response, and its content type. */
export const constantBody = z
  .record(z.string(), constant)
  .default({})
  .refine((templates) => Object.keys(templates).length <= 1, "only one content type is supported")
  .transform((templates) => {
    const [[contentType, body] = ["application/json", ""]] = Object.entries(templates);
    return { contentType, body };
  });

/** The headers of a constant response: each is mapped from a literal in single quotes. */
export function constantHeaders(prefix: string) {
  return z
    .record(z.string().startsWith(prefix), z.string().regex(/^'.*'$/, "only literals are supported"))
    .default({})
    .transform((headers) =>
      Object.fromEntries(Object.entries(headers).map(([name, text]) => [name.slice(prefix.length), text.slice(1, -1)])),
    );
}

const gatewayResponseSchema = z.strictObject({
  ResponseType: z.string(),
  StatusCode: z.coerce.number().optional(),
  ResponseTemplates: constantBody,
  ResponseParameters: constantHeaders("gatewayresponse.header."),
  ...ignoring("RestApiId"),
});

/** The gateway responses of an API by type, like `UNAUTHORIZED`. */
export function readGatewayResponses(template: Template): Map<string, GatewayResponse> {
  return new Map(
    template.all("AWS::ApiGateway::GatewayResponse", gatewayResponseSchema).map(({ properties }) => {
      const { ResponseType, StatusCode, ResponseTemplates, ResponseParameters } = properties;
      return [ResponseType, { status: StatusCode, headers: ResponseParameters, ...ResponseTemplates }];
    }),
  );
}
