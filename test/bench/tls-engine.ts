import { exec } from "node:child_process";
import { readFile } from "node:fs/promises";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { pipeline, Transform } from "node:stream";
import { createServer as createTlsServer } from "node:tls";
import { promisify } from "node:util";
import { listenOn } from "../../infra/tools/local/machine/ports.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

/** How long every byte takes, each way, in milliseconds. */
const delay = 1;

/**
 * Puts an engine behind TLS and at a distance, as DynamoDB is, and resolves with the variables by
 * which a function reaches it. Needs openssl.
 */
export async function startTlsEngine(engine: string, cleanup: AsyncDisposableStack) {
  const { path } = cleanup.use(await temporaryFolder());
  const certificate = join(path, "certificate.pem");
  await promisify(exec)(
    "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=127.0.0.1 " +
      "-addext subjectAltName=IP:127.0.0.1 -keyout key.pem -out certificate.pem",
    { cwd: path },
  );

  const { port, hostname: host } = new URL(engine);
  const key = await readFile(join(path, "key.pem"));
  const cert = await readFile(certificate);
  const tls = createTlsServer({ key, cert }, (socket) =>
    pipeline(socket, connect({ port: Number(port), host }), socket, () => {}),
  );
  const tlsPort = await listenOn(tls);
  const distance = createServer({ noDelay: true }, (socket) => {
    const upstream = connect({ port: tlsPort, host: "127.0.0.1", noDelay: true });
    pipeline(socket, later(), upstream, later(), socket, () => {});
  });
  cleanup.defer(() => {
    distance.close();
    tls.close();
  });
  return {
    AWS_ENDPOINT_URL_DYNAMODB: `https://127.0.0.1:${await listenOn(distance)}`,
    NODE_EXTRA_CA_CERTS: certificate,
  };
}

function later() {
  return new Transform({
    transform: (chunk, _encoding, done) => {
      setTimeout(done, delay, undefined, chunk);
    },
  });
}
