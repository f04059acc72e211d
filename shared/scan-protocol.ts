import { crc32 } from "node:zlib";
import type { ScanCommandOutput } from "@aws-sdk/client-dynamodb";
import { AwsJson1_0Protocol } from "@aws-sdk/core/protocols";
import type { MetadataBearer } from "@smithy/types";
import { type ListPage, pageOf, writePage } from "./list-page.ts";

/** The pages that `ScanProtocol` has read, by their Scan's output. */
const pages = new WeakMap<object, ListPage>();

/** The orders in the output of a Scan, by a client with `ScanProtocol` or by any other. */
export function listPage(output: ScanCommandOutput): ListPage {
  return pages.get(output) ?? pageOf(output.Items ?? []);
}

/**
 * DynamoDB's protocol, except that the output of a Scan has a `listPage` instead of `Items`. The rest
 * of it is as DynamoDB sent it.
 */
export class ScanProtocol extends AwsJson1_0Protocol {
  override async deserializeResponse<Output extends MetadataBearer>(
    ...[operation, context, response]: Parameters<
      AwsJson1_0Protocol["deserializeResponse"]
    >
  ): Promise<Output> {
    if (this.isErrorResponse(response.statusCode))
      return await super.deserializeResponse(operation, context, response);
    const chunks = await Array.fromAsync<Buffer>(response.body);
    const body = join(chunks);
    const { "x-amz-crc32": checksum } = response.headers;
    // The call counts as lost, and is retried.
    if (checksum !== undefined && crc32(body) !== Number(checksum))
      throw new Error("The response doesn't match its checksum");
    try {
      const { page, rest } = readPage(body);
      const output = { ...rest, $metadata: this.deserializeMetadata(response) };
      pages.set(output, page);
      return output;
    } catch {
      // Unusual orders, another response, or an incomplete one: the SDK tells which.
      const copy = { ...response, body: Buffer.concat(chunks) };
      return await super.deserializeResponse(operation, context, copy);
    }
  }
}

/**
 * The memory of every body, as large as the largest so far. With a new buffer for each, V8 collects
 * its whole heap more often, which took lists a fifth of their CPU.
 */
let memory = Buffer.alloc(0);

/** Joins the chunks of a body. The next call overwrites the result: don't await while using it. */
function join(chunks: Buffer[]) {
  const length = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  if (length > memory.length) memory = Buffer.alloc(length);
  chunks.reduce((at, chunk) => at + chunk.copy(memory, at), 0);
  return memory.subarray(0, length);
}

/**
 * Reads the response to a Scan: its page, and the output without it.
 *
 * @throws an error when the body isn't JSON, or isn't such a response.
 */
function readPage(body: Buffer) {
  const start = body.indexOf("[");
  const end = body.lastIndexOf("]");
  // Only these two brackets are left: if Items is an array, they are its own.
  const around = [body.subarray(0, start + 1), body.subarray(end)];
  const { Items, ...rest } = JSON.parse(String(Buffer.concat(around)));
  if (!Array.isArray(Items)) throw new TypeError("The response has no Items");
  return { page: writePage(body.subarray(start, end)), rest };
}
