import { once } from "node:events";
import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { expect, test } from "vitest";
import { serveApiPage } from "../../infra/local/page/api-page.ts";

test("a download that the client aborts closes its file", async () => {
  const request = new IncomingMessage(new Socket());
  Object.assign(request, { method: "GET", url: "/swagger-ui-bundle.js", headers: { host: "localhost" } });
  const response = new ServerResponse(request);
  const begun = once(response, "pipe");
  serveApiPage({ basePath: "/v1", apiKey: "" }, request, response);
  const [file] = await begun;
  response.destroy();
  await expect.poll(() => file.closed, { timeout: 10_000 }).toBe(true);
});
