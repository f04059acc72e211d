import type { Behaviour, EngineCall } from "./fault-proxy.ts";
import { passOn } from "./fault-proxy.ts";
import { applied, unapplied } from "./faults.ts";

/** The outcomes of one attempt to cancel: whether the engine applies it, and whether its response arrives. */
export const meetings: Record<string, { behaviour: Behaviour; applied: boolean; responded: boolean }> = {
  nothing: { behaviour: passOn, applied: true, responded: true },
  "lost on its way": { behaviour: unapplied["reset before a response"], applied: false, responded: false },
  "rejected with 500": { behaviour: unapplied["500 of the service"], applied: false, responded: false },
  "response lost": { behaviour: applied["reset after the engine"], applied: true, responded: false },
  "response torn": { behaviour: applied["reset mid-body"], applied: true, responded: false },
  "500 though applied": { behaviour: applied["500 after the engine"], applied: true, responded: false },
};

/** Clients that race for one order, and the order in which their attempts reach the engine. */
export interface Race {
  /** For each client that cancels: what happens to its attempts, by name; later ones pass. */
  cancels: string[][];
  /** How many clients try to ship it. */
  ships: number;
  /** Who is let in next, over and over: an index into those waiting at the door. */
  turns: number[];
}

/** A client of a race at work. */
export interface Runner {
  /** Sends the client's cancellation, and resolves with the response's status and error code. */
  cancel(client: number): Promise<string>;
  /** Ships the order if it is pending, past the door; resolves with whether it did. */
  ship(): Promise<boolean>;
}

/** How a race ended: the status and error code that each cancelling client got, and whether each ship attempt succeeded. */
export interface Outcome {
  cancels: (string | undefined)[];
  ships: boolean[];
}

/** An attempt that takes longer, in milliseconds, may have run into the time limit of the function's call, 2 s. */
const longestAttempt = 1_500;

/** Where the attempts to cancel one order wait for the engine. */
export class Door {
  /** Whether an attempt may have timed out: then it was not the race that was asked for. */
  tooSlow = false;
  #arrived = Promise.withResolvers<(behaviour: Behaviour) => void>();

  /** The proxy's choice for every attempt: to wait here, and then for the behaviour that it is let in with. */
  readonly choose = (_: EngineCall): Behaviour => {
    const letIn = Promise.withResolvers<Behaviour>();
    const begun = performance.now();
    this.#arrived.resolve(letIn.resolve);
    return async (exchange) => {
      await (await letIn.promise)(exchange);
      if (performance.now() - begun > longestAttempt) this.tooSlow = true;
    };
  };

  /** The next attempt to arrive. One at a time may be on its way here. */
  async arrival(): Promise<(behaviour: Behaviour) => void> {
    const letIn = await this.#arrived.promise;
    this.#arrived = Promise.withResolvers();
    return letIn;
  }
}

/** Lets in one attempt at a time, exactly as the race says: only the client whose turn it is moves. */
export async function run({ cancels, ships, turns }: Race, door: Door, { cancel, ship }: Runner): Promise<Outcome> {
  const outcome: Outcome = { cancels: cancels.map(() => undefined), ships: [] };
  const queue: (() => Promise<void>)[] = Array.from({ length: ships }, () => async () => {
    outcome.ships.push(await ship());
  });
  for (const [client, met] of cancels.entries()) {
    const responded = cancel(client).then((response) => {
      outcome.cancels[client] = response;
    });
    /** Waits until the client stands at the door, to be let in at its turn, or has its response. */
    const settle = async (attempt: number): Promise<void> => {
      const arrived = await Promise.race([door.arrival(), responded]);
      if (arrived === undefined) return;
      queue.push(() => {
        arrived(behaviourOf(met[attempt]));
        return settle(attempt + 1);
      });
    };
    await settle(0);
  }
  for (let turn = 0; queue.length > 0; turn += 1) {
    const [move] = queue.splice((turns[turn % turns.length] ?? 0) % queue.length, 1);
    await move?.();
  }
  return outcome;
}

function behaviourOf(meeting = "nothing"): Behaviour {
  return meetings[meeting]?.behaviour ?? passOn;
}

/** How a race must end, by the interface description alone. */
export interface Prediction extends Outcome {
  /** The order's status at the end. */
  status: string;
  /** The client who cancelled it, if any. */
  winner: number | undefined;
}

export function predict({ cancels, ships, turns }: Race): Prediction {
  const outcome: Outcome = { cancels: cancels.map(() => undefined), ships: [] };
  let status = "pending";
  let winner: number | undefined;
  const attempts = cancels.map(() => 0);
  const queue: (number | "ship")[] = [...Array.from({ length: ships }, () => "ship" as const), ...cancels.keys()];
  for (let turn = 0; queue.length > 0; turn += 1) {
    const [client] = queue.splice((turns[turn % turns.length] ?? 0) % queue.length, 1);
    if (client === "ship") {
      outcome.ships.push(status === "pending");
      if (status === "pending") status = "shipped";
    } else if (client !== undefined) {
      const attempt = attempts[client] ?? 0;
      const meeting = meetings[cancels[client]?.[attempt] ?? "nothing"];
      attempts[client] = attempt + 1;
      if (meeting?.applied && status === "pending") {
        status = "cancelled";
        winner = client;
      }
      if (meeting?.responded) outcome.cancels[client] = truth(status, winner === client);
      else if (attempt === 2) outcome.cancels[client] = "503 service_unavailable";
      else queue.push(client);
    }
  }
  return { ...outcome, status, winner };
}

function truth(status: string, own: boolean): string {
  if (status === "shipped") return "409 order_already_shipped";
  return own ? "204" : "409 order_already_cancelled";
}
