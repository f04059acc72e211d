import { ListTablesCommand } from "@aws-sdk/client-dynamodb";
import { expect, inject, test } from "vitest";
import { engineClient } from "../../infra/local/engine/engine.ts";
import { readFunctions } from "../../infra/local/functions.ts";
import { readStack } from "../../infra/template/synthesis.ts";

const functions = readFunctions(await readStack(inject("assembly")), "http://127.0.0.1:8000");

test("a function has the settings and variables of the template, and what Lambda adds", () => {
  expect(functions.find(({ name }) => name === "CancelOrder")).toEqual({
    name: "CancelOrder",
    arn: "arn:aws:lambda:us-east-1:000000000000:function:CancelOrder",
    directory: expect.stringMatching(/\/assembly\/asset\.[\da-f]{64}$/),
    handler: "index.handler",
    timeoutSeconds: expect.any(Number),
    memoryMegabytes: expect.any(Number),
    environment: expect.objectContaining({
      ORDERS_TABLE: "PetStoreOrders-staging-Orders",
      AWS_DEFAULT_REGION: "us-east-1",
      AWS_ENDPOINT_URL_DYNAMODB: "http://127.0.0.1:8000",
      AWS_EXECUTION_ENV: "AWS_Lambda_nodejs24.x",
      AWS_LAMBDA_LOG_FORMAT: "JSON",
      AWS_LAMBDA_LOG_LEVEL: "DEBUG",
    }),
  });
});

// Engines like DynamoDB Local keep separate tables for each access key and region.
test("functions and whoever prepares their tables look for them in the same place", async () => {
  const { config } = engineClient("http://127.0.0.1:8000");
  const { accessKeyId } = await config.credentials();
  expect([await config.region(), accessKeyId]).toEqual(["us-east-1", "local"]);
  for (const { environment } of functions) {
    expect(environment).toMatchObject({ AWS_REGION: "us-east-1", AWS_ACCESS_KEY_ID: "local" });
  }
});

test("an engine that is silent for 30 seconds fails a call", async () => {
  const client = engineClient("http://127.0.0.1:8000");
  const limits = { connectionTimeout: 30_000, requestTimeout: 30_000, throwOnRequestTimeout: true };
  // The handler knows its settings once it has been used.
  await expect(client.send(new ListTablesCommand(), { abortSignal: AbortSignal.abort() })).rejects.toThrow();
  const { requestHandler } = client.config;
  if (!("httpHandlerConfigs" in requestHandler && typeof requestHandler.httpHandlerConfigs === "function")) {
    throw new Error("The SDK's handler has no settings");
  }
  expect(requestHandler.httpHandlerConfigs()).toMatchObject(limits);
});
