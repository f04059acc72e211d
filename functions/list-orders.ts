import type { Readable } from "node:stream";
import middy from "@middy/core";
import { executionModeStreamifyResponse } from "@middy/core/StreamifyResponse";
import httpContentNegotiation, { type Context } from "@middy/http-content-negotiation";
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from "aws-lambda";
import { callLimits, createClient } from "../shared/dynamodb.ts";
import { environmentVariable, makeReady } from "../shared/function-start.ts";
import { callerOf, respondWithErrors } from "../shared/operation.ts";
import { openOrderList } from "../shared/order-list.ts";
import { scanOne, scanOrders } from "../shared/orders-table.ts";
import { ScanProtocol } from "../shared/scan-protocol.ts";

const client = createClient(callLimits.list, { protocol: ScanProtocol });
const ordersTable = environmentVariable("ORDERS_TABLE");
await makeReady((signal) => scanOne(client, ordersTable, signal));

type StreamedResponse = Omit<APIGatewayProxyResult, "body"> & { body: Readable };

/**
 * `listOrders` of openapi.yaml: responds with 200 and every order as one streamed JSON array, or an
 * Error record.
 */
export const handler = middy<APIGatewayProxyEvent, StreamedResponse, Error, Context>({
  executionMode: executionModeStreamifyResponse,
})
  .use(httpContentNegotiation({ availableEncodings: ["gzip"], failOnMismatch: false }))
  .use(respondWithErrors("list"))
  .handler(async (event, { preferredEncoding, getRemainingTimeInMillis }) => {
    const isGzip = preferredEncoding === "gzip";
    const body = await openOrderList(
      scanOrders(client, ordersTable),
      callerOf(event),
      isGzip,
      getRemainingTimeInMillis,
    );
    return {
      statusCode: 200,
      headers: {
        "Content-Type": "application/json",
        "Cache-Control": "no-store",
        Vary: "Accept-Encoding",
        ...(isGzip && { "Content-Encoding": "gzip" }),
      },
      body,
    };
  });
