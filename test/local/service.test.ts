import type { IncomingMessage, RequestListener } from "node:http";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import { LiveService, type Service } from "../../infra/local/service.ts";

type Exchange = Parameters<RequestListener>;

/** A build whose requests end when they are told to. */
function build() {
  const ends: (() => void)[] = [];
  const stop = vi.fn<() => Promise<void>>();
  const serve = () => new Promise<void>((resolve) => void ends.push(resolve));
  const service = { stageName: "v1", host: { stop }, gateway: { serve }, requests: new Set() } as unknown as Service;
  return { service, stop, ends };
}

const exchange = [{} as IncomingMessage, {}] as unknown as Exchange;
const { signal } = new AbortController();

test("a build is stopped when its last request has its response, and no sooner", async () => {
  const [first, second] = [build(), build()];
  const live = new LiveService(first.service);
  live.serve(...exchange);
  live.serve(...exchange);
  const log = vi.fn<(line: string) => void>();
  await live.replace(async () => second.service, { signal, log });
  expect(live.current).toBe(second.service);
  expect(log.mock.calls).toEqual([[expect.stringMatching(/^Rebuilt in \d+\.\d s\.$/)]]);
  first.ends[0]?.();
  await vi.waitFor(() => expect(first.service.requests.size).toBe(1));
  expect(first.stop).not.toHaveBeenCalled();
  first.ends[1]?.();
  await vi.waitFor(() => expect(first.stop).toHaveBeenCalled());
  expect(first.service.requests.size).toBe(0);
  expect(second.stop).not.toHaveBeenCalled();
  // It is forgotten then.
  await nextTurn();
  await live.stop();
  expect([first.stop.mock.calls, second.stop.mock.calls]).toEqual([[[]], [[]]]);
});

test("the end stops every build that still serves", async () => {
  const [first, second] = [build(), build()];
  const live = new LiveService(first.service);
  live.serve(...exchange);
  await live.replace(async () => second.service, { signal, log: () => {} });
  await live.stop();
  expect([first.stop.mock.calls, second.stop.mock.calls]).toEqual([[[]], [[]]]);
});

test("a build that fails leaves the last one, and says why unless it was interrupted", async () => {
  const { service } = build();
  const live = new LiveService(service);
  const log = vi.fn<(line: string) => void>();
  const fail = () => Promise.reject(new Error("no such table"));
  await live.replace(fail, { signal, log });
  await live.replace(fail, { signal: AbortSignal.abort(), log });
  expect(live.current).toBe(service);
  expect(log.mock.calls).toEqual([["The last good build still serves. no such table"]]);
});
