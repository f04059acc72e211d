import { createReadStream } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { pipeline } from "node:stream";
import { fileURLToPath } from "node:url";

/** Files the page is made of, by their paths: the document itself, and Swagger UI as npm installed it. */
const files: Record<string, { contentType: string; file: string }> = {
  "/openapi.yaml": {
    contentType: "application/yaml",
    file: fileURLToPath(new URL("../../../shared/openapi.yaml", import.meta.url)),
  },
  "/swagger-ui.css": {
    contentType: "text/css",
    file: fileURLToPath(import.meta.resolve("swagger-ui-dist/swagger-ui.css")),
  },
  "/swagger-ui-bundle.js": {
    contentType: "text/javascript",
    file: fileURLToPath(import.meta.resolve("swagger-ui-dist/swagger-ui-bundle.js")),
  },
};

// The page and everything on it come from here; the browser sees to that.
const contentSecurityPolicy =
  "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src data:; connect-src 'self'";

/**
 * Answers what belongs to the page that shows the OpenAPI document and tries it out, at `/` beside the API; it is
 * part of the local stack only.
 *
 * @param basePath where the API is on this origin, like `/v1`.
 * @param apiKey the key the page begins with.
 * @returns whether the request was one for the page, and so is answered.
 */
export function serveApiPage(
  { basePath, apiKey }: { basePath: string; apiKey: string },
  { method, url = "/", headers: { host = "" } }: IncomingMessage,
  response: ServerResponse,
): boolean {
  // The page holds a key: it is not for a site that makes its own name lead to this machine.
  if (method !== "GET" || !/^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/i.test(host)) return false;
  const headers = { "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff" };
  const [path = "/"] = url.split("?");
  if (path === "/") {
    response.writeHead(200, {
      ...headers,
      "Content-Type": "text/html; charset=utf-8",
      "Content-Security-Policy": contentSecurityPolicy,
    });
    response.end(page(basePath, apiKey));
    return true;
  }
  const asset = files[path];
  if (asset === undefined) return false;
  response.writeHead(200, { ...headers, "Content-Type": asset.contentType });
  pipeline(createReadStream(asset.file), response, () => {});
  return true;
}

function page(basePath: string, apiKey: string): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Pet Store Orders Service</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="swagger-ui.css">
<div id="reference"></div>
<script src="swagger-ui-bundle.js"></script>
<script>
  // What is tried out here goes to this machine, whatever the document says about other environments.
  const servers = [{ url: ${JSON.stringify(basePath)}, description: "This machine" }];
  const onlyThisMachine = {
    statePlugins: {
      spec: { wrapActions: { updateJsonSpec: (update) => (document) => update({ ...document, servers }) } },
    },
  };

  // Swagger UI would show ids beyond 2^53 rounded, which are the ids of other orders.
  const exactly = (json) =>
    JSON.stringify(
      JSON.parse(json, (_key, value, { source }) => (typeof value === "number" ? JSON.rawJSON(source) : value)),
      null,
      2,
    );
  const exactNumbers = {
    wrapComponents: {
      responseBody: (Original, { React, getComponent }) => (props) =>
        props.contentType === "application/json" && props.content
          ? React.createElement(
              "div",
              null,
              React.createElement("h5", null, "Response body"),
              React.createElement(getComponent("HighlightCode", true), { language: "json", canCopy: true }, exactly(props.content)),
            )
          : React.createElement(Original, props),
    },
  };

  const reference = SwaggerUIBundle({
    dom_id: "#reference",
    url: "openapi.yaml",
    plugins: [onlyThisMachine, exactNumbers],
    tryItOutEnabled: true,
    validatorUrl: null,
    onComplete: () => reference.preauthorizeApiKey("bearerAuth", ${JSON.stringify(apiKey)}),
  });
</script>
</html>
`;
}
