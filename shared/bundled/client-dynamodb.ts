/**
 * Replaces `@aws-sdk/client-dynamodb`: a client built from parts of the SDK, with only the
 * functions' three operations. The SDK's client loads schemas for 57 operations, rules for every
 * kind of endpoint and settings from files, at every cold start.
 */
import type {
  GetItemCommandInput,
  GetItemCommandOutput,
  ScanCommandInput,
  ScanCommandOutput,
  ServiceInputTypes,
  ServiceOutputTypes,
  UpdateItemCommandInput,
  UpdateItemCommandOutput,
} from "@aws-sdk/client-dynamodb";
import { Sha256 } from "@smithy/core/checksum";
import {
  Client,
  constructStack,
  decorateServiceException,
  ServiceException,
} from "@smithy/core/client";
import { loadJsonRpcErrorCode } from "@smithy/core/protocols";
import { getRetryPlugin, type StandardRetryStrategy } from "@smithy/core/retry";
import { streamCollector, toUtf8 } from "@smithy/core/serde";
import { getSmithyContext, HttpRequest, HttpResponse } from "@smithy/core/transport";
import { NodeHttpHandler, type NodeHttpHandlerOptions } from "@smithy/node-http-handler";
import { SignatureV4 } from "@smithy/signature-v4";
import {
  type Command,
  type Handler,
  type HttpHandlerOptions,
  type MiddlewareStack,
  type ResponseMetadata,
  SMITHY_CONTEXT_KEY,
} from "@smithy/types";
import { environmentVariable } from "../function-start.ts";

/** The settings that the functions choose (`createClient` in dynamodb.ts). */
interface Configuration {
  maxAttempts: number;
  retryStrategy: StandardRetryStrategy;
  requestHandler: NodeHttpHandlerOptions;
}

type Resolved = ReturnType<typeof resolve>;
type Stack = MiddlewareStack<ServiceInputTypes, ServiceOutputTypes>;

/**
 * Calls DynamoDB as the SDK's client does: with the same requests, outputs, errors and retries. It
 * takes the region, the credentials and the endpoint from the environment variables of Lambda and
 * of the local stack.
 *
 * @throws Error when a variable is missing, or asks for an endpoint that this client doesn't have.
 */
export class DynamoDBClient extends Client<
  HttpHandlerOptions,
  ServiceInputTypes,
  ServiceOutputTypes,
  Resolved
> {
  constructor(configuration: Configuration) {
    super(resolve(configuration));
    addSerializer(this.middlewareStack, endpoint());
    this.middlewareStack.use(getRetryPlugin(this.config));
    addSigning(this.middlewareStack);
    addDeserializer(this.middlewareStack);
  }
}

function resolve({ maxAttempts, retryStrategy, requestHandler }: Configuration) {
  return {
    apiVersion: "2012-08-10",
    maxAttempts: async () => maxAttempts,
    retryStrategy: async () => retryStrategy,
    requestHandler: NodeHttpHandler.create(requestHandler),
  };
}

/** The domains of partitions other than `aws`, by how their regions begin. */
const domains = {
  "cn-": "amazonaws.com.cn",
  "eusc-": "amazonaws.eu",
  "us-iso-": "c2s.ic.gov",
  "us-isob-": "sc2s.sgov.gov",
  "us-isof-": "csp.hci.ic.gov",
  "eu-isoe-": "cloud.adc-e.uk",
};

/** The region's endpoint, or the one that a variable names, in the SDK's order of precedence. */
function endpoint() {
  const { AWS_ENDPOINT_URL, AWS_ENDPOINT_URL_DYNAMODB } = process.env;
  for (const name of ["AWS_USE_FIPS_ENDPOINT", "AWS_USE_DUALSTACK_ENDPOINT"])
    if (process.env[name] && process.env[name] !== "false")
      throw new Error(`${name} needs the SDK's own client: see infra/stack/bundles.ts`);
  const region = environmentVariable("AWS_REGION");
  const other = Object.entries(domains).find(([start]) => region.startsWith(start));
  const regional = `https://dynamodb.${region}.${other?.[1] ?? "amazonaws.com"}`;
  return new URL(AWS_ENDPOINT_URL_DYNAMODB || AWS_ENDPOINT_URL || regional);
}

/** Makes the command of an operation: the SDK's, without its schema. */
function command<Input extends ServiceInputTypes, Output extends ServiceOutputTypes>(
  operation: string,
) {
  return class
    implements Command<ServiceInputTypes, Input, ServiceOutputTypes, Output, Resolved>
  {
    readonly middlewareStack = constructStack<Input, Output>();
    readonly input: Input;

    constructor(input: Input) {
      this.input = input;
    }

    resolveMiddleware(
      clientStack: Stack,
      { requestHandler }: Resolved,
      options: HttpHandlerOptions = {},
    ): Handler<Input, Output> {
      const stack = clientStack.concat(this.middlewareStack);
      return stack.resolve<Input, Output>(
        ({ request }) => requestHandler.handle(request as HttpRequest, options),
        {
          commandName: `${operation}Command`,
          [SMITHY_CONTEXT_KEY]: { operation, ...options },
        },
      );
    }
  };
}

export const GetItemCommand = command<GetItemCommandInput, GetItemCommandOutput>(
  "GetItem",
);
export const ScanCommand = command<ScanCommandInput, ScanCommandOutput>("Scan");
export const UpdateItemCommand = command<UpdateItemCommandInput, UpdateItemCommandOutput>(
  "UpdateItem",
);

/**
 * Writes requests in DynamoDB's protocol, awsJson1_0 of smithy.io. The body is the input as JSON,
 * which it is already, except for binary attributes, which no function reads or writes.
 */
function addSerializer(stack: Stack, { protocol, hostname, port, host, pathname }: URL) {
  stack.add(
    (next, context) => (args) => {
      const body = Buffer.from(JSON.stringify(args.input));
      // Lambda's trace of this invocation.
      const { _X_AMZN_TRACE_ID: trace } = process.env;
      const headers = {
        "content-type": "application/x-amz-json-1.0",
        "x-amz-target": `DynamoDB_20120810.${getSmithyContext(context)["operation"]}`,
        "content-length": String(body.length),
        host,
        ...(trace && { "X-Amzn-Trace-Id": trace }),
      };
      const address = { protocol, hostname, ...(port && { port: Number(port) }) };
      const request = { ...address, method: "POST", path: pathname, headers, body };
      return next({ ...args, request: new HttpRequest(request) });
    },
    { name: "serializerMiddleware", step: "serialize" },
  );
}

/** How wrong a clock must be for the SDK to repeat a rejected call, in milliseconds. */
const clockSkew = 240_000;

/**
 * Signs each attempt. Like the SDK's `AwsSdkSigV4Signer`, it uses the table's clock, which every
 * response shows.
 */
function addSigning(stack: Stack) {
  const { AWS_SESSION_TOKEN: sessionToken } = process.env;
  const signer = new SignatureV4({
    service: "dynamodb",
    region: environmentVariable("AWS_REGION"),
    credentials: {
      accessKeyId: environmentVariable("AWS_ACCESS_KEY_ID"),
      secretAccessKey: environmentVariable("AWS_SECRET_ACCESS_KEY"),
      ...(sessionToken && { sessionToken }),
    },
    sha256: Sha256,
  });
  /** By how many milliseconds the table's clock is ahead of ours. */
  let ahead = 0;
  /** Learns that from a response. @returns whether a signature by our clock would be rejected. */
  const learnTime = (response: unknown) => {
    const date = HttpResponse.isInstance(response) ? response.headers["date"] : undefined;
    const time = Date.parse(date ?? "");
    if (Number.isNaN(time)) return false;
    ahead = time - Date.now();
    return Math.abs(ahead) >= clockSkew;
  };
  stack.add(
    (next) => async (args) => {
      const signingDate = new Date(Date.now() + ahead);
      const request = await signer.sign(args.request as HttpRequest, { signingDate });
      const result = await next({ ...args, request }).catch((error) => {
        if (learnTime(error.$response)) error.$metadata.clockSkewCorrected = true;
        throw error;
      });
      learnTime(result.response);
      return result;
    },
    // Within the retries, so that each attempt has its own signature.
    { name: "httpSigningMiddleware", step: "finalizeRequest", priority: "low" },
  );
}

/** Reads responses in the same protocol. */
function addDeserializer(stack: Stack) {
  stack.add(
    (next) => async (args) => {
      const { response } = await next(args);
      return { response, output: await read(response as HttpResponse) };
    },
    { name: "deserializerMiddleware", step: "deserialize" },
  );
}

async function read(response: HttpResponse) {
  const { statusCode, headers, body } = response;
  const $metadata = {
    httpStatusCode: statusCode,
    requestId: headers["x-amzn-requestid"],
  };
  try {
    const text = toUtf8(await streamCollector(body));
    const json = { ...(text !== "" && JSON.parse(text)), $metadata };
    if (statusCode < 300) return json;
    throw exception(response, json);
  } catch (error) {
    // The SDK's retries read the response. Logs needn't, so it isn't enumerable.
    Object.defineProperty(error, "$response", { value: response, enumerable: false });
    throw Object.assign(error as Error, { $metadata });
  }
}

function exception(response: HttpResponse, json: { $metadata: ResponseMetadata }) {
  const name = loadJsonRpcErrorCode(response, json) ?? "Unknown";
  const $fault = response.statusCode < 500 ? "client" : "server";
  const isConditionFailed = name === "ConditionalCheckFailedException";
  const Exception = isConditionFailed
    ? ConditionalCheckFailedException
    : ServiceException;
  const { $metadata } = json;
  const exception = new Exception({ name, $fault, $metadata, message: "" });
  // The one error that the SDK retries for neither its name nor its status.
  if (name === "ReplicatedWriteConflictException") exception.$retryable = {};
  return decorateServiceException(exception, json);
}

export class ConditionalCheckFailedException extends ServiceException {}

/** What lib-dynamodb imports and no function uses. */
export const {
  BatchExecuteStatementCommand,
  BatchGetItemCommand,
  BatchWriteItemCommand,
  DeleteItemCommand,
  DescribeExportCommand,
  ExecuteStatementCommand,
  ExecuteTransactionCommand,
  ExportTableToPointInTimeCommand,
  PutItemCommand,
  QueryCommand,
  SearchVectorsCommand,
  TransactGetItemsCommand,
  TransactWriteItemsCommand,
}: Record<string, undefined> = {};
