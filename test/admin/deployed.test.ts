import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createOperator, type Operator } from "../helpers/admin/admin-process.ts";
import {
  createFakeCloudFormation,
  createSilentServer,
  type FakeCloudFormation,
} from "../helpers/admin/fake-cloudformation.ts";
import { createTestTables, type TestTables } from "../helpers/admin/test-tables.ts";

let tables: TestTables;
let operator: Operator;
let cloudFormation: FakeCloudFormation;
let signedIn: Record<string, string>;

beforeAll(async () => {
  [tables, operator] = await Promise.all([createTestTables(), createOperator()]);
  cloudFormation = await createFakeCloudFormation("PetStoreOrders-production", {
    OrdersTableName: tables.tables.orders,
    ApiKeysTableName: tables.tables.apiKeys,
  });
  signedIn = {
    AWS_ENDPOINT_URL_CLOUDFORMATION: cloudFormation.endpoint,
    AWS_ENDPOINT_URL_DYNAMODB: tables.dynamodbEndpoint,
    AWS_REGION: "eu-central-1",
    AWS_ACCESS_KEY_ID: "AKIAEXAMPLE",
    AWS_SECRET_ACCESS_KEY: "not-to-be-seen",
    AWS_SESSION_TOKEN: "nor-this",
  };
});
afterAll(async () => {
  cloudFormation.stop();
  await Promise.all([tables.stop(), operator.leave()]);
});

/** Expects one line on standard error, nothing else, and no secret in it. */
async function fault(args: string[], env: Record<string, string>): Promise<string> {
  const { code, stdout, stderr } = await operator.run(args, { env });
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toMatch(/^[^\n]+\n$/);
  expect(stderr).not.toMatch(/not-to-be-seen|nor-this/);
  return stderr;
}

describe("a command for a deployed environment", () => {
  test("says whose account it is and finds the tables through the stack's outputs", async () => {
    const { code, stdout, stderr } = await operator.run(["--env", "production", "keys", "issue", "--name", "Acme"], {
      env: signedIn,
    });
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^pets_live_\w{49}\n$/) });
    expect(stderr).toMatch(/^production: AWS account 123456789012, region eu-central-1\nIssued key_/);
    expect(await tables.items("apiKeys")).toHaveLength(1);
  });

  test("without credentials fails with one line", async () => {
    const { AWS_ACCESS_KEY_ID, ...signedOut } = signedIn;
    expect(AWS_ACCESS_KEY_ID).toBeDefined();
    expect(await fault(["keys", "list", "--env", "production"], signedOut)).toMatch(/^No usable AWS credentials/);
  });

  test("does not wait for credentials that nobody hands out", async () => {
    const silent = await createSilentServer();
    const onEc2 = { AWS_EC2_METADATA_DISABLED: "", AWS_EC2_METADATA_SERVICE_ENDPOINT: silent.endpoint };
    const line = await fault(["keys", "list", "--env", "production"], { AWS_REGION: "eu-central-1", ...onEc2 });
    silent.stop();
    expect(line).toMatch(/^No usable AWS credentials/);
  });

  test("without a region, without an answer and without its stack fails with one line", async () => {
    const { AWS_REGION, ...nowhere } = signedIn;
    expect(AWS_REGION).toBeDefined();
    const list = ["keys", "list", "--env"];
    expect(await fault([...list, "production"], nowhere)).toMatch(/^No AWS region is chosen/);
    const unreachable = { ...signedIn, AWS_ENDPOINT_URL_CLOUDFORMATION: "http://127.0.0.1:1" };
    expect(await fault([...list, "production"], unreachable)).toBe("No answer from 127.0.0.1:1 (ECONNREFUSED)\n");
    expect(await fault([...list, "staging"], signedIn)).toMatch(
      /^There is no stack PetStoreOrders-staging in region eu-central-1/,
    );
  });

  test("fails with one line when the stack lacks an output", async () => {
    const halfDeployed = await createFakeCloudFormation("PetStoreOrders-staging", { OrdersTableName: "orders" });
    const env = { ...signedIn, AWS_ENDPOINT_URL_CLOUDFORMATION: halfDeployed.endpoint };
    const line = await fault(["orders", "show", "1", "--env", "staging"], env);
    halfDeployed.stop();
    expect(line).toBe(
      "The stack PetStoreOrders-staging (UPDATE_COMPLETE) has no output ApiKeysTableName: is it deployed whole?\n",
    );
  });
});

describe("a command for the local stack", () => {
  test("fails with one line when none was started, or it was killed", async () => {
    expect(await fault(["keys", "list", "--local"], {})).toBe(
      "No local stack is running here: start one with npm start\n",
    );
    await operator.pointTo({ ...tables, dynamodbEndpoint: "http://127.0.0.1:1" });
    expect(await fault(["keys", "list", "--local"], {})).toMatch(
      /does not answer any more: start one with npm start\n$/,
    );
  });
});
