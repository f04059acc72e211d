import type { Fate } from "./actors.ts";
import type { RecordedClient, Request, Response, Step } from "./recorded-client.ts";

/** Where one actor is, from its first attempt on. */
export interface Client {
  recorded: RecordedClient;
  /** The responses that its attempts have had from the table. */
  seen: readonly Response[];
  next: Step;
  /** The copy of its last attempt, if delivered late: it can't arrive before the next attempt. */
  held: readonly Request[];
  /** The copies on their way that can arrive at any time. */
  late: readonly Request[];
  /** The same for clients that can only do the same from here on. */
  key: number;
}

export async function begin(recorded: RecordedClient): Promise<Client> {
  return withKey({
    recorded,
    seen: [],
    next: await recorded.after([]),
    held: [],
    late: [],
  });
}

/** The client after its next attempt, which has met this fate and got this response. */
export async function attempt(
  client: Client,
  fate: Fate,
  response: Response,
): Promise<Client> {
  const seen = [...client.seen, response];
  const next = await client.recorded.after(seen);
  const isLate = fate.applied === "after the next attempt";
  const copies = isLate && "sends" in client.next ? [client.next.sends] : [];
  const late = [...client.late, ...client.held];
  if ("sends" in next) return withKey({ ...client, seen, next, held: copies, late });
  return withKey({ ...client, seen, next, held: [], late: [...late, ...copies] });
}

/** The client after a late copy of one of its attempts has arrived. */
export function withoutCopy(client: Client, copy: Request): Client {
  return withKey({ ...client, late: client.late.filter((other) => other !== copy) });
}

const keys = new Map<string, number>();

function withKey(client: Omit<Client, "key">): Client {
  const { recorded, seen, next, held, late } = client;
  // A client that has responded does nothing more: only its copies count.
  const past = "responds" in next ? "over" : [recorded.name, seen];
  const future = JSON.stringify([past, held, late.map(({ body }) => body).sort()]);
  const key = keys.get(future) ?? keys.size;
  keys.set(future, key);
  return { ...client, key };
}
