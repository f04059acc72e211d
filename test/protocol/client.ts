import type { Fate } from "./actors.ts";
import type { RecordedClient, Request, Response, Step } from "./recorded-client.ts";

/** Where one actor is, from its first attempt on. */
export interface Client {
  recorded: RecordedClient;
  /** The responses that its attempts have had from the table. */
  seen: readonly Response[];
  next: Step;
  /**
   * The copy of its last attempt that is on its way: it arrives after the next attempt, or after
   * the client's end.
   */
  held: readonly Request[];
  /** The copies on their way that may arrive at any time. */
  late: readonly Request[];
  /** The same for clients that do the same from here on. */
  key: number;
}

export async function begin(recorded: RecordedClient): Promise<Client> {
  return withKey({ recorded, seen: [], next: await recorded.after([]), held: [], late: [] });
}

/** The client after its next attempt, which has met this fate and seen this response. */
export async function attempt(client: Client, fate: Fate, response: Response): Promise<Client> {
  const seen = [...client.seen, response];
  const next = await client.recorded.after(seen);
  const copies =
    fate.applied === "after the next attempt" && "sends" in client.next ? [client.next.sends] : [];
  const late = [...client.late, ...client.held];
  return "tells" in next
    ? withKey({ ...client, seen, next, held: [], late: [...late, ...copies] })
    : withKey({ ...client, seen, next, held: copies, late });
}

/** The client after this late copy of its attempts has arrived. */
export function withoutCopy(client: Client, copy: Request): Client {
  return withKey({ ...client, late: client.late.filter((other) => other !== copy) });
}

const keys = new Map<string, number>();

function withKey(client: Omit<Client, "key">): Client {
  const { recorded, seen, next, held, late } = client;
  // After its end a client does nothing more: only its copies count.
  const past = "tells" in next ? "over" : [recorded.name, seen];
  const future = JSON.stringify([past, held, late.map(({ body }) => body).sort()]);
  const key = keys.get(future) ?? keys.size;
  keys.set(future, key);
  return { ...client, key };
}
