import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { afterAll, vi } from "vitest";

// vitest takes stubs back before the next test. In a shared process, what the next file does before
// its first one, such as starting an engine, would still meet them. Mocked clients are taken back
// by no one else.
function unstub(): void {
  vi.unstubAllGlobals();
  vi.unstubAllEnvs();
  for (const { prototype } of [DynamoDBClient, DynamoDBDocumentClient])
    Reflect.deleteProperty(prototype, "send");
}
afterAll(unstub);
// No hook runs for a file of which no test is run.
unstub();
