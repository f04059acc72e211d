import assert from "node:assert/strict";
import { type Checks, cancel, list } from "./checks.ts";
import { open, send } from "./client.ts";
import { expectDocumented, expectError } from "./document.ts";
import { expectList } from "./list.ts";

const racers = 20;
const floodAtOnce = 60;

/** Twenty clients cancel a pending order at once, instead of one client twice. */
export const racingCancellations = (pending: string): Checks => ({
  [`204 for exactly one of ${racers} racing cancellations of order ${pending}`]: async (
    service,
  ) => {
    const sent = Array.from({ length: racers }, () => send(service, cancel(pending)));
    const responses = await Promise.all(sent);
    const winners = responses.filter(({ status }) => status === 204);
    winners.forEach(expectDocumented);
    for (const response of responses)
      if (!winners.includes(response)) expectError(response, "order_already_cancelled");
    assert(winners.length > 0, `order ${pending} was not pending. Name one that is`);
    assert(winners.length === 1, `${winners.length} of ${racers} got 204`);
  },
});

/**
 * Checks that take minutes and thousands of requests. Meanwhile, other clients may get 429.
 *
 * @param mostRequests how many to send, at most, until one gets 429.
 */
export const thoroughChecks = (mostRequests = 10_000): Checks => ({
  "the whole list for a client that reads slowly for a minute": async (service, clock) => {
    const headers = { "accept-encoding": "identity" };
    const { text, ...response } = await open(service, { ...list, headers });
    const minuteEnd = clock.now() + 60_000;
    async function* readSlowly(): AsyncGenerator<string> {
      for await (const chunk of text) {
        if (clock.now() < minuteEnd) await clock.pause(3000);
        yield chunk;
      }
    }
    const length = await expectList({ ...response, text: readSlowly() }, {}, clock);
    assert(
      clock.now() >= minuteEnd,
      `${length} characters are too few to be read for a minute`,
    );
  },
  "429 and Retry-After for too many requests, the documented Error for the others": async (
    service,
  ) => {
    let sent = 0;
    let isThrottled = false;
    const sendInTurn = async (): Promise<void> => {
      while (!isThrottled && sent++ < mostRequests) {
        const response = await send(service, cancel("none"));
        const isRejected = response.status === 429;
        expectError(response, isRejected ? "too_many_requests" : "order_not_found");
        isThrottled ||= isRejected;
      }
    };
    await Promise.all(Array.from({ length: floodAtOnce }, sendInTurn));
    assert(
      isThrottled,
      `${mostRequests} requests, ${floodAtOnce} at a time, were all let in`,
    );
  },
});
