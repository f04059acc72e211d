import type { Actor, Fate } from "./actors.ts";
import type { Request, Response, Step } from "./recorded-client.ts";
import { remembering } from "./remembering.ts";

/** Where one actor is, from its first attempt on. */
export interface Client {
  askedAt: Date;
  /** The responses that its attempts have had. */
  seen: readonly Response[];
  next: Step;
  /** The copy of its last attempt, if delivered late: it can't arrive before the next attempt. */
  held: readonly Request[];
  /** The copies on their way that can arrive at any time. */
  late: readonly Request[];
  /** The same for clients that can only do the same from here on. */
  key: number;
}

export async function begin(actor: Actor, askedAt: Date) {
  const next = await actor.next(askedAt, []);
  return withKey({ askedAt, seen: [], next, held: [], late: [] });
}

export async function attempt(
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

export function withoutCopy(client: Client, copy: Request) {
  return withKey({ ...client, late: client.late.filter((other) => other !== copy) });
}

let keys = 0;
const keyOf = remembering((..._future: unknown[]) => keys++);

function withKey(client: Omit<Client, "key">): Client {
  const { askedAt, seen, next, held, late } = client;
  // A client that has responded does nothing more: only its copies count.
  const past = next.sends ? [askedAt, seen] : "over";
  const key = keyOf(past, held, late.map(({ body }) => body).sort());
  return { ...client, key };
}
