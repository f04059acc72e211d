import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { Socket } from "node:net";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { type FunctionEntry, functionList } from "../../infra/stack/function-list.ts";
import { issuedKeys } from "../helpers/issued-keys.ts";
import { eventOf, startFunction } from "../helpers/lambda.ts";

/** Every name this process has looked up and every address it has tried to connect to. */
const contacted: string[] = [];
const watch = (message: unknown): void => {
  const { socket } = message as { socket: Socket };
  socket.on("lookup", (_error, _address, _family, name) => contacted.push(name));
  socket.on("connectionAttempt", (address, port) => contacted.push(`${address}:${port}`));
};
beforeAll(() => subscribe("net.client.socket", watch));
afterAll(() => unsubscribe("net.client.socket", watch));

test.each(Object.values<FunctionEntry>(functionList))(
  "$file, which a test imports and invokes, tries to connect to the closed endpoint, and to nothing else",
  async (entry) => {
    for (const level of ["info", "error"] as const) vi.spyOn(console, level).mockReturnValue();
    contacted.length = 0;
    const serve = await startFunction(entry);
    await serve(eventOf(entry, issuedKeys.test.key)).catch(() => {});
    expect(new Set(contacted)).toEqual(new Set(["127.0.0.1:9"]));
  },
);
