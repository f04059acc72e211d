import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { afterAll, afterEach, vi } from "vitest";
import "./properties.ts";

// vitest takes stubs back before the next test. In a shared process, that is too late for what the
// next file does before its first test, such as starting an engine. Nothing else restores mocked
// clients.
function unstub() {
  vi.unstubAllGlobals();
  vi.unstubAllEnvs();
  for (const { prototype } of [DynamoDBClient, DynamoDBDocumentClient])
    Reflect.deleteProperty(prototype, "send");
}
// No setting of vitest's does this.
afterEach(() => void vi.useRealTimers());
afterAll(unstub);
// Hooks don't run in a file none of whose tests run.
unstub();
