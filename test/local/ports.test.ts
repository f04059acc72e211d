import { connect, createServer, Server } from "node:net";
import { expect, onTestFinished, test, vi } from "vitest";
import { listen, listeningPort } from "../../infra/local/machine/ports.ts";

test("a port that only root may use is named in one line, with what to do instead", async () => {
  // Tests may run as root.
  const listening = vi.spyOn(Server.prototype, "listen").mockImplementation(function (this: Server) {
    queueMicrotask(() => this.emit("error", Object.assign(new Error("listen EACCES"), { code: "EACCES" })));
    return this;
  });
  await expect(listen(80, () => {}).finally(() => listening.mockRestore())).rejects.toMatchObject({
    name: "StartError",
    message: "Port 80 on localhost is taken or not allowed; choose another with --port",
  });
});

test("a port that another program has on IPv6 alone is taken, because that is where localhost may lead", async () => {
  const original = Server.prototype.listen;
  const listening = vi.spyOn(Server.prototype, "listen").mockImplementation(function (
    this: Server,
    ...args: unknown[]
  ) {
    if (args[1] !== "::1") return Reflect.apply(original, this, args);
    queueMicrotask(() => this.emit("error", Object.assign(new Error("listen EADDRINUSE"), { code: "EADDRINUSE" })));
    return this;
  });
  await expect(listen(0, () => {}).finally(() => listening.mockRestore())).rejects.toMatchObject({
    name: "StartError",
    message: "Port 0 on localhost is taken or not allowed; choose another with --port",
  });
});

test.each([
  ["is enough where there is no IPv6", "EADDRNOTAVAIL", "::1", true],
  ["that fails for another reason is not said to be taken", "EMFILE", "127.0.0.1", false],
])("a port on 127.0.0.1 %s", async (_, code, host, listens) => {
  const original = Server.prototype.listen;
  const failure = Object.assign(new Error(`listen ${code}`), { code });
  const listening = vi.spyOn(Server.prototype, "listen").mockImplementation(function (
    this: Server,
    ...args: unknown[]
  ) {
    if (args[1] !== host) return Reflect.apply(original, this, args);
    queueMicrotask(() => this.emit("error", failure));
    return this;
  });
  onTestFinished(() => listening.mockRestore());
  const begun = listen(0, () => {});
  if (!listens) return await expect(begun).rejects.toBe(failure);
  expect((await begun).port).toBeGreaterThan(0);
  await (await begun).close();
});

test("a port that is closed lets go of clients that wait for a response", async () => {
  const [asked, left] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const { port, close } = await listen(0, () => asked.resolve());
  const client = connect(port, "127.0.0.1").on("error", () => {});
  client.on("close", () => left.resolve());
  client.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  await asked.promise;
  await close();
  await left.promise;
});

test("only this machine can connect", async () => {
  const listening = vi.spyOn(Server.prototype, "listen");
  onTestFinished(() => listening.mockRestore());
  const { port, close } = await listen(0, () => {});
  await close();
  expect(listening.mock.calls).toEqual([
    [0, "127.0.0.1"],
    [port, "::1"],
  ]);
  await using server = createServer();
  await listeningPort(server);
  expect(server.address()).toMatchObject({ address: "127.0.0.1" });
});
