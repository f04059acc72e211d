import { once } from "node:events";
import { request } from "node:http";
import { Server } from "node:net";
import { expect, onTestFinished, test, vi } from "vitest";
import { listen } from "../../../../infra/tools/local/machine/ports.ts";

function failAt(host: string, code: string) {
  const original = Server.prototype.listen;
  const listening = vi.spyOn(Server.prototype, "listen");
  listening.mockImplementation(function (this: Server, ...args: unknown[]) {
    if (args[1] !== host) return Reflect.apply(original, this, args);
    queueMicrotask(() =>
      this.emit("error", Object.assign(new Error(`listen ${code}`), { code })),
    );
    return this;
  });
  onTestFinished(() => listening.mockRestore());
  return listening;
}

const advice = "Port 0 on localhost is taken or not allowed; choose another with --port";
test.each([
  // Only root may use it.
  ["EACCES", "127.0.0.1"],
  // Another program has it there, where localhost may resolve to.
  ["EADDRINUSE", "::1"],
])("a port that fails with %s at %s is named, with what to do", async (code, host) => {
  const { mock } = failAt(host, code);
  const error = { name: "CommandError", message: advice };
  await expect(listen(0, () => {})).rejects.toMatchObject(error);
  for (const server of mock.contexts) expect(server).toMatchObject({ listening: false });
});

test("a port is open on this machine's loopback interface alone, even without IPv6", async () => {
  const listening = failAt("::1", "EADDRNOTAVAIL");
  const { port, close } = await listen(0, () => {});
  await close();
  expect(listening.mock.calls).toEqual([
    [0, "127.0.0.1"],
    [port, "::1"],
  ]);
});

test("closing a port disconnects clients that wait for a response", async () => {
  const asked = Promise.withResolvers<void>();
  const { port, close } = await listen(0, () => asked.resolve());
  const client = request({ port, host: "127.0.0.1" }).end();
  const left = expect(once(client, "response")).rejects.toThrow("socket hang up");
  await asked.promise;
  await close();
  await left;
});
