import type { OrderItem } from "../../shared/order.ts";
import { type Actor, type Fate, shippedAt } from "./actors.ts";
import { attempt, begin, type Client, withoutCopy } from "./client.ts";
import { RecordedClient } from "./recorded-client.ts";
import { type RememberedTable, stateOf } from "./remembered-table.ts";
import { Worlds } from "./worlds.ts";

/** A moment of an interleaving: everything that its continuation depends on. */
export interface Moment {
  item: OrderItem | undefined;
  /** Where each actor is; undefined before its first attempt. */
  clients: readonly (Client | undefined)[];
  /** The explanations that the contract allows for all that has been seen. */
  worlds: Worlds;
}

/** One step from a moment to the next. */
export interface Move {
  actor: Actor;
  /** The fate of the actor's next attempt; undefined when a late copy of an earlier one arrives. */
  fate?: Fate;
  /** The response that the actor then gives its own client. */
  responds?: string | undefined;
  /** How the move violates the contract, if it does. */
  violation?: string;
  /** How many moves this stands for: any of several equal copies may be the one that arrives. */
  times: number;
  moment: Moment;
}

/** An actor's code, recorded at an hour before the shipment, and at an hour after. */
interface Recorded {
  actor: Actor;
  before: RecordedClient;
  after: RecordedClient;
}

const hour = 3_600_000;

/** The moves that the actors can make at a moment, and where each leads. */
export class Moves {
  readonly #table: RememberedTable;
  readonly #recorded: readonly Recorded[];

  constructor(table: RememberedTable, actors: readonly Actor[]) {
    this.#table = table;
    this.#recorded = actors.map((actor) => ({
      actor,
      before: new RecordedClient(
        `${actor.name}, before`,
        actor.code(new Date(shippedAt.getTime() - hour)),
      ),
      after: new RecordedClient(
        `${actor.name}, after`,
        actor.code(new Date(shippedAt.getTime() + hour)),
      ),
    }));
  }

  start(item: OrderItem | undefined): Moment {
    return {
      item,
      clients: this.#recorded.map(() => undefined),
      worlds: Worlds.startingAs(stateOf(item)),
    };
  }

  /** Every move from a moment; none at the end of an interleaving. */
  async from(moment: Moment): Promise<Move[]> {
    const moves: Move[] = [];
    for (const [index, recorded] of this.#recorded.entries()) {
      moves.push(...(await this.#attempts(moment, recorded, index)));
      moves.push(...(await this.#arrivals(moment, recorded.actor, index)));
    }
    return moves;
  }

  /** The possible fates of an actor's next attempt. */
  async #attempts(
    { item, clients, worlds }: Moment,
    recorded: Recorded,
    index: number,
  ): Promise<Move[]> {
    const { actor } = recorded;
    const begun = clients[index];
    // An actor that begins once the order has shipped has a clock that shows so.
    const shipped = item?.["shipDate"]?.S === shippedAt.toISOString();
    const client = begun ?? (await begin(shipped ? recorded.after : recorded.before));
    if (!("sends" in client.next)) return [];
    const begunWorlds =
      begun === undefined ? worlds.begin(actor.name, actor.operation) : worlds;
    const applied = await this.#table.apply(item, client.next.sends);
    const moves: Move[] = [];
    for (const fate of actor.fates) {
      const attempted = await attempt(client, fate, fate.seen ?? applied.response);
      const responds = "responds" in attempted.next ? attempted.next.responds : undefined;
      const moment = {
        item: fate.applied === "now" ? applied.item : item,
        clients: clients.with(index, attempted),
        worlds: begunWorlds,
      };
      moves.push({ actor, fate, responds, times: 1, ...judge(moment, actor, responds) });
    }
    return moves;
  }

  /** The late copies of an actor's attempts that can arrive. */
  async #arrivals(
    { item, clients, worlds }: Moment,
    actor: Actor,
    index: number,
  ): Promise<Move[]> {
    const client = clients[index];
    if (client === undefined) return [];
    const moves: Move[] = [];
    const copiesByBody = Map.groupBy(client.late, ({ body }) => body);
    for (const copies of copiesByBody.values()) {
      const [copy] = copies;
      if (copy === undefined) continue;
      const applied = await this.#table.apply(item, copy);
      const moment = {
        item: applied.item,
        clients: clients.with(index, withoutCopy(client, copy)),
        worlds,
      };
      moves.push({ actor, times: copies.length, ...judge(moment, actor) });
    }
    return moves;
  }
}

/**
 * Checks a moment against the contract: an observer reads the order, and the actor may respond to
 * its client. The client's request begins with the first attempt and ends with the last: a longer
 * one would allow more.
 */
function judge(
  moment: Moment,
  { name }: Actor,
  responds?: string,
): { moment: Moment; violation?: string } {
  const state = stateOf(moment.item);
  const seen = moment.worlds.see(state);
  if (seen.none) {
    const allowed = moment.worlds.states().join(" or ");
    return { moment, violation: `the order is ${state}; by the contract it is ${allowed}` };
  }
  const worlds = responds === undefined ? seen : seen.end(name, responds);
  if (!worlds.none) return { moment: { ...moment, worlds } };
  const allowed = seen.responses(name).join(" or ");
  return {
    moment,
    violation: `${name} gets ${responds}; by the contract it is ${allowed}`,
  };
}
