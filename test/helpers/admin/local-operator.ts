import { afterAll, beforeEach } from "vitest";
import { createOperator, type Operator } from "./admin-process.ts";
import { createTestTables, type TestTables } from "./test-tables.ts";

/** An operator who finds two tables through `--local`, empty before each test; both are the calling test file's own. */
export async function createLocalOperator(): Promise<{ tables: TestTables; operator: Operator }> {
  const [tables, operator] = await Promise.all([createTestTables(), createOperator()]);
  beforeEach(async () => {
    await operator.pointTo(tables);
    await tables.empty();
  });
  afterAll(() => Promise.all([tables.stop(), operator.leave()]));
  return { tables, operator };
}
