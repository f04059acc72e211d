import type { OrderItem } from "../../shared/order.ts";
import { type Actor, type Fate, shippedAt } from "./actors.ts";
import { attempt, begin, type Client, withoutCopy } from "./client.ts";
import { type RememberedTable, stateOf } from "./remembered-table.ts";
import type { Worlds } from "./worlds.ts";

/** Everything that the continuation of an interleaving depends on. */
export interface Moment {
  item: OrderItem | undefined;
  /** Where each actor is; undefined before its first attempt. */
  clients: readonly (Client | undefined)[];
  /** What explains all that has been seen. */
  worlds: Worlds;
}

export interface Move {
  actor: Actor;
  /** The fate of the actor's next attempt; undefined when a late copy of an earlier one arrives. */
  fate?: Fate;
  /** The response that the actor then gives its own client. */
  responds?: string | undefined;
  /** How the move violates the contract, if it does. */
  violation?: string;
  moment: Moment;
}

/** None at the end of an interleaving. */
export async function* movesFrom(
  table: RememberedTable,
  actors: readonly Actor[],
  moment: Moment,
): AsyncGenerator<Move> {
  const { item, clients, worlds } = moment;
  for (const [index, actor] of actors.entries()) {
    yield* attempts(table, actor, moment, index);
    const client = clients[index];
    for (const copy of client?.late ?? []) {
      const applied = await table.apply(item, copy);
      const arrived = {
        item: applied.item,
        clients: clients.with(index, client && withoutCopy(client, copy)),
        worlds,
      };
      yield { actor, ...judge(arrived, actor) };
    }
  }
}

const hour = 3_600_000;

async function* attempts(
  table: RememberedTable,
  actor: Actor,
  { item, clients, worlds }: Moment,
  index: number,
) {
  const begun = clients[index];
  // An actor that begins once the order has shipped has a clock that shows so.
  const isShipped = item?.["shipDate"]?.S === shippedAt.toISOString();
  const askedAt = new Date(shippedAt.getTime() + (isShipped ? hour : -hour));
  const client = begun ?? (await begin(actor, askedAt));
  const { sends } = client.next;
  if (sends === undefined) return;
  const begunWorlds = begun ? worlds : worlds.begin(actor.name, actor.operation);
  const applied = await table.apply(item, sends);
  for (const fate of actor.fates) {
    const attempted = await attempt(actor, client, fate, fate.seen ?? applied.response);
    const { responds } = attempted.next;
    const moment = {
      item: fate.applied === "now" ? applied.item : item,
      clients: clients.with(index, attempted),
      worlds: begunWorlds,
    };
    yield { actor, fate, responds, ...judge(moment, actor, responds) };
  }
}

/**
 * Checks a moment against the contract: an observer reads the order, and the actor may respond to
 * its client. The client's request begins with the first attempt and ends with the last: a longer
 * one would allow more.
 */
function judge(moment: Moment, { name }: Actor, responds?: string) {
  const state = stateOf(moment.item);
  const seen = moment.worlds.see(state);
  if (seen.none) {
    const allowed = moment.worlds.states().join(" or ");
    return {
      moment,
      violation: `the order is ${state}; by the contract it is ${allowed}`,
    };
  }
  const worlds = responds === undefined ? seen : seen.end(name, responds);
  if (!worlds.none) return { moment: { ...moment, worlds } };
  const allowed = seen.responses(name).join(" or ");
  return {
    moment,
    violation: `${name} gets ${responds}; by the contract it is ${allowed}`,
  };
}
