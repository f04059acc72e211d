import type { OrderItem } from "../../shared/order.ts";
import { type Actor, type Fate, shippedAt } from "./actors.ts";
import type { Request, Response, Step } from "./recorded-client.ts";
import { type RememberedTable, stateOf } from "./remembered-table.ts";
import { identify } from "./remembering.ts";
import type { Worlds } from "./worlds.ts";

/** Where one actor is, from its first attempt on. */
interface Client {
  askedAt: Date;
  /** The responses that its attempts have had. */
  seen: readonly Response[];
  next: Step;
  /** The copy of its last attempt, if delivered late: it can't arrive before the next attempt. */
  held: readonly Request[];
  /** The copies on their way that can arrive at any time. */
  late: readonly Request[];
  /** The same for clients that can only do the same from here on. */
  key: string;
}

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
    if (client === undefined) continue;
    for (const copy of client.late) {
      const applied = await table.apply(item, copy);
      const late = client.late.filter((other) => other !== copy);
      const after = clients.with(index, withKey({ ...client, late }));
      const arrived = { item: applied.item, clients: after, worlds };
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
  const client =
    begun ??
    withKey({
      askedAt,
      seen: [],
      next: await actor.next(askedAt, []),
      held: [],
      late: [],
    });
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

async function attempt(
  actor: Actor,
  { askedAt, seen, next, held, late }: Client,
  { applied }: Fate,
  response: Response,
) {
  const responses = [...seen, response];
  const after = await actor.next(askedAt, responses);
  const isLate = applied === "after the next attempt";
  const copies = isLate && next.sends ? [next.sends] : [];
  const isOver = after.sends === undefined;
  return withKey({
    askedAt,
    seen: responses,
    next: after,
    held: isOver ? [] : copies,
    late: [...late, ...held, ...(isOver ? copies : [])],
  });
}

function withKey(client: Omit<Client, "key">): Client {
  const { askedAt, seen, next, held, late } = client;
  // A client that has responded does nothing more: only its copies count.
  const past = next.sends ? [askedAt, seen] : "over";
  const key = identify([past, held, ...late.map(identify).sort()]);
  return { ...client, key };
}
