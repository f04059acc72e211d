import { expect, test } from "vitest";
import { workThrough } from "../../infra/admin/work-through.ts";

test("after a failure nothing more begins, and what has begun is told to stop waiting", async () => {
  const begun: number[] = [];
  const stopped: number[] = [];
  const work = async (item: number, stop: AbortSignal): Promise<void> => {
    begun.push(item);
    if (item === 1) throw new Error("broken");
    await new Promise((resolve) => setImmediate(resolve));
    if (stop.aborted) stopped.push(item);
  };
  const items = Array.from({ length: 100 }, (_, at) => at).values();
  const reason = await workThrough(items, work, new AbortController().signal);
  expect(reason).toContain("broken");
  expect(begun).toHaveLength(48);
  expect(stopped).toEqual(begun.filter((item) => item !== 1));
});
