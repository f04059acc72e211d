import type { OrderItem } from "../../shared/order.ts";
import { type Actor, type Fate, shippedAt } from "./actors.ts";
import { attempt, begin, type Client, withoutCopy } from "./client.ts";
import { RecordedClient } from "./recorded-client.ts";
import { type RememberedTable, stateOf } from "./remembered-table.ts";
import { Worlds } from "./worlds.ts";

/** A moment of an interleaving: all that the rest of it depends on. */
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
  tells?: string;
  /** The contract's own verdict, when it does not allow this move. */
  violation?: string;
  /**
   * How many moves this is: of several copies that are the same, any may be the one that arrives.
   */
  times: number;
  moment: Moment;
}

/**
 * An actor's code, as it was run by a clock that shows the morning, and by one that shows the
 * afternoon.
 */
interface Recorded {
  actor: Actor;
  morning: RecordedClient;
  afternoon: RecordedClient;
}

const hour = 3_600_000;

/** The moves that each actor can make at a moment, and their results. */
export class Moves {
  readonly #table: RememberedTable;
  readonly #recorded: readonly Recorded[];

  constructor(table: RememberedTable, actors: readonly Actor[]) {
    this.#table = table;
    this.#recorded = actors.map((actor) => ({
      actor,
      morning: new RecordedClient(
        `${actor.name}, morning`,
        actor.code(new Date(shippedAt.getTime() - hour)),
      ),
      afternoon: new RecordedClient(
        `${actor.name}, afternoon`,
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

  /** Every move from a moment; none when all is over. */
  async from(moment: Moment): Promise<Move[]> {
    const moves: Move[] = [];
    for (const [who, recorded] of this.#recorded.entries()) {
      moves.push(
        ...(await this.#attempts(moment, recorded, who)),
        ...(await this.#arrivals(moment, recorded, who)),
      );
    }
    return moves;
  }

  /** The possible fates of an actor's next attempt. */
  async #attempts(
    { item, clients, worlds }: Moment,
    recorded: Recorded,
    who: number,
  ): Promise<Move[]> {
    const { actor } = recorded;
    const begun = clients[who];
    // No clock shows the afternoon before the shipper has shipped, or the morning after that.
    const shipped = item?.["shipDate"]?.S === shippedAt.toISOString();
    const client = begun ?? (await begin(shipped ? recorded.afternoon : recorded.morning));
    if (!("sends" in client.next)) return [];
    const asked = begun === undefined ? worlds.begin(actor.name, actor.operation) : worlds;
    const applied = await this.#table.apply(item, client.next.sends);
    const moves: Move[] = [];
    for (const fate of actor.fates) {
      const after = await attempt(client, fate, fate.seen ?? applied.response);
      const changed = fate.applied === "now" ? applied.item : item;
      const tells = "tells" in after.next ? after.next.tells : undefined;
      const moment = { item: changed, clients: clients.with(who, after), worlds: asked };
      moves.push({
        actor,
        fate,
        ...(tells && { tells }),
        times: 1,
        ...judge(moment, actor, tells),
      });
    }
    return moves;
  }

  /** The late copies of an actor's attempts that can arrive. */
  async #arrivals(
    { item, clients, worlds }: Moment,
    { actor }: Recorded,
    who: number,
  ): Promise<Move[]> {
    const client = clients[who];
    const moves: Move[] = [];
    for (const [copy, ...same] of Map.groupBy(client?.late ?? [], ({ body }) => body).values()) {
      if (client === undefined || copy === undefined) continue;
      const applied = await this.#table.apply(item, copy);
      const moment = {
        item: applied.item,
        clients: clients.with(who, withoutCopy(client, copy)),
        worlds,
      };
      moves.push({ actor, times: same.length + 1, ...judge(moment, actor) });
    }
    return moves;
  }
}

/**
 * Checks a moment against the contract: an observer reads the order, and the actor may respond to
 * its client. Its request begins with its first attempt and ends with its last: any longer time
 * would allow more.
 */
function judge(
  moment: Moment,
  { name }: Actor,
  tells?: string,
): { moment: Moment; violation?: string } {
  const state = stateOf(moment.item);
  const seen = moment.worlds.see(state);
  if (seen.none) {
    const allowed = moment.worlds.states().join(" or ");
    return { moment, violation: `the order is ${state}; by the contract it is ${allowed}` };
  }
  const worlds = tells === undefined ? seen : seen.end(name, tells);
  if (!worlds.none) return { moment: { ...moment, worlds } };
  return {
    moment,
    violation: `${name} gets ${tells}; by the contract it is ${seen.responses(name).join(" or ")}`,
  };
}
