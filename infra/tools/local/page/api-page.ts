import { createReadStream } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { pipeline } from "node:stream";

/** The names of this machine. A site's own name can resolve to it, too. */
const loopback = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/i;

/** The files of the page, by path: the content type and the module specifier. */
const files: Record<string, [contentType: string, file: string]> = {
  "/": ["text/html; charset=utf-8", "./index.html"],
  "/openapi.yaml": ["application/yaml", "../../../../shared/openapi.yaml"],
  "/CHANGELOG.md": ["text/markdown; charset=utf-8", "../../../../shared/CHANGELOG.md"],
  "/swagger-ui.css": ["text/css", "swagger-ui-dist/swagger-ui.css"],
  "/swagger-ui-bundle.js": ["text/javascript", "swagger-ui-dist/swagger-ui-bundle.js"],
};

const headers = {
  "Cache-Control": "no-store",
  "X-Content-Type-Options": "nosniff",
  // The browser loads nothing from anywhere else.
  "Content-Security-Policy": [
    "default-src 'none'",
    "script-src 'self' 'unsafe-inline'",
    "style-src 'self' 'unsafe-inline'",
    "img-src data:",
    "connect-src 'self'",
    // A page that frames it could trick its user into pressing buttons, with the key filled in.
    "frame-ancestors 'none'",
  ].join("; "),
};

/**
 * Serves the page at `/` that shows the OpenAPI document and sends requests. The deployed stack has
 * no such page.
 *
 * @param settings the API's path on this origin, like `/v1`, and the key to begin with.
 * @returns whether the request was for the page. If not, nothing has been sent.
 */
export function serveApiPage(
  settings: { basePath: string; apiKey: string },
  { method, url = "/", headers: { host = "" } }: IncomingMessage,
  response: ServerResponse,
): boolean {
  // The settings hold a key: a site that resolves its own name to this machine must not read them.
  if (method !== "GET" || !loopback.test(host)) return false;
  const [path = "/"] = url.split("?");
  if (path === "/settings.json") {
    response
      .writeHead(200, { ...headers, "Content-Type": "application/json" })
      .end(JSON.stringify(settings));
    return true;
  }
  const [contentType, file] = files[path] ?? [];
  if (file === undefined) return false;
  response.writeHead(200, { ...headers, "Content-Type": contentType });
  pipeline(createReadStream(new URL(import.meta.resolve(file))), response, () => {});
  return true;
}
