import type { OrderItem } from "../../shared/order.ts";
import { type Actor, type Fate, shippedAt } from "./actors.ts";
import { begin, type Claim, end, see, statesAfter } from "./claims.ts";
import { claimsNothing } from "./contract.ts";
import type { Request, Response } from "./recorded-client.ts";
import { type RememberedTable, stateOf } from "./remembered-table.ts";

/** Where one actor is, from its first attempt on. */
interface Client {
  name: string;
  claim: Claim;
  /** What it does next; undefined once it has responded. */
  running: Running | undefined;
  /** The copy of its last attempt, if delivered late: it can't arrive before the next attempt. */
  held: readonly Request[];
  /** The copies on their way that can arrive at any time. */
  late: readonly Request[];
}

interface Running {
  askedAt: Date;
  /** The responses that its attempts have had. */
  seen: readonly Response[];
  sends: Request;
}

/** Everything that the continuation of an interleaving depends on. */
export interface Moment {
  item: OrderItem | undefined;
  /** Where each actor is; undefined before its first attempt. */
  clients: readonly (Client | undefined)[];
}

export interface Move {
  actor: Actor;
  /** The fate of the actor's next attempt; undefined when a late copy of an earlier one arrives. */
  fate?: Fate;
  /** The response that the actor then gives its own client. */
  responds?: string | undefined;
  /** How the move violates the contract, if it does. */
  violation?: string | undefined;
  moment: Moment;
}

/** None at the end of an interleaving. */
export async function* movesFrom(
  table: RememberedTable,
  actors: readonly Actor[],
  { item, clients }: Moment,
): AsyncGenerator<Move> {
  for (const [index, actor] of actors.entries()) {
    const client = clients[index] ?? (await start(actor, item));
    const before = { item, clients: clients.with(index, client) };
    for await (const step of steps(table, actor, client, item)) {
      const { after, now, ...told } = step;
      yield { actor, ...told, ...judge(before, index, after, now, told.responds) };
    }
  }
}

const hour = 3_600_000;

async function start({ name, next, operation }: Actor, item: OrderItem | undefined) {
  // An actor that begins once the order has shipped has a clock that shows so.
  const isShipped = item?.["shipDate"]?.S === shippedAt.toISOString();
  const askedAt = new Date(shippedAt.getTime() + (isShipped ? hour : -hour));
  const { sends } = await next(askedAt, []);
  const running = sends && { askedAt, seen: [], sends };
  const claim = begin(operation, stateOf(item));
  return { name, claim, running, held: [], late: [] };
}

interface NextStep extends Pick<Move, "fate" | "responds"> {
  after: Client;
  now: OrderItem | undefined;
}

/** All that an actor may do next: an attempt, or the arrival of a late copy. */
async function* steps(
  table: RememberedTable,
  actor: Actor,
  client: Client,
  item: OrderItem | undefined,
): AsyncGenerator<NextStep> {
  const { running, late } = client;
  if (running) {
    const applied = await table.apply(item, running.sends);
    for (const fate of actor.fates) {
      const now = fate.applied === "now" ? applied.item : item;
      const attempted = await attempt(actor, client, running, fate, applied.response);
      yield { fate, now, ...attempted };
    }
  }
  for (const copy of late) {
    const { item: now } = await table.apply(item, copy);
    yield { now, after: { ...client, late: late.filter((other) => other !== copy) } };
  }
}

async function attempt(
  actor: Actor,
  client: Client,
  { askedAt, seen, sends }: Running,
  { applied, seen: response }: Fate,
  given: Response,
) {
  const responses = [...seen, response ?? given];
  const next = await actor.next(askedAt, responses);
  const held = applied === "after the next attempt" ? [sends] : [];
  const late = [...client.late, ...client.held];
  const running = next.sends && { askedAt, seen: responses, sends: next.sends };
  const copies = running ? { held, late } : { held: [], late: [...late, ...held] };
  return { responds: next.responds, after: { ...client, running, ...copies } };
}

/**
 * Checks a move against the contract: an observer reads the order, and the client that moved may get
 * its response. Its request begins with the first attempt and ends with the last: a longer one would
 * allow more.
 */
function judge(
  before: Moment,
  index: number,
  after: Client,
  item: OrderItem | undefined,
  responds?: string,
): Pick<Move, "violation" | "moment"> {
  const was = stateOf(before.item);
  const is = stateOf(item);
  const states = statesAfter(
    was,
    before.clients.flatMap((client) => client?.claim ?? []),
  );
  const seen = before.clients
    .with(index, after)
    .map((client) => client && { ...client, claim: see(client.claim, was, is) });
  const moment = { item, clients: seen };
  if (!states.includes(is)) {
    const allowed = states.join(" or ");
    return { moment, violation: `the order is ${is}; by the contract it is ${allowed}` };
  }
  if (responds === undefined) return { moment };
  const { claim, name } = { ...after, ...seen[index] };
  const allowed = claim.responses ?? [];
  if (!claimsNothing(responds) && !allowed.includes(responds)) {
    const violation = `${name} gets ${responds}; by the contract it is ${allowed.join(" or ") || "5xx"}`;
    return { moment, violation };
  }
  const over = { ...after, claim: end(claim, responds) };
  return { moment: { item, clients: seen.with(index, over) } };
}
