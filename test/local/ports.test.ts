import { Server } from "node:net";
import { expect, test, vi } from "vitest";
import { listen } from "../../infra/local/machine/ports.ts";

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
