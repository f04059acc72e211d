import { connect, Server } from "node:net";
import { expect, onTestFinished, test, vi } from "vitest";
import { listen } from "../../../infra/local/machine/ports.ts";

/** Makes every attempt to listen at a host fail, and records the others. */
function failAt(host: string, code: string) {
  const original = Server.prototype.listen;
  const listening = vi.spyOn(Server.prototype, "listen");
  listening.mockImplementation(function (this: Server, ...args: unknown[]) {
    if (args[1] !== host) return Reflect.apply(original, this, args);
    queueMicrotask(() => this.emit("error", Object.assign(new Error(`listen ${code}`), { code })));
    return this;
  });
  onTestFinished(() => listening.mockRestore());
  return listening;
}

test.each([
  ["that only root may use", "EACCES", "127.0.0.1"],
  // localhost may resolve to it.
  ["that another program has on IPv6 alone", "EADDRINUSE", "::1"],
])("a port %s fails with advice to choose another", async (_, code, host) => {
  failAt(host, code);
  await expect(listen(0, () => {})).rejects.toMatchObject({
    name: "CommandError",
    message: "Port 0 on localhost is taken or not allowed; choose another with --port",
  });
});

test("a port that fails for another reason fails with that reason", async () => {
  failAt("127.0.0.1", "EMFILE");
  await expect(listen(0, () => {})).rejects.toThrow("listen EMFILE");
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
  const client = connect(port, "127.0.0.1").on("error", () => {});
  client.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  await asked.promise;
  await close();
  await expect.poll(() => client.destroyed).toBe(true);
});
