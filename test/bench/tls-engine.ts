import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline, Transform, type TransformOptions } from "node:stream";
import { createServer as createTlsServer } from "node:tls";
import { promisify } from "node:util";
import { listeningPort } from "../../infra/local/machine/ports.ts";

/** How long every byte takes, each way, in milliseconds. */
const delay = 1;

/** An engine behind TLS and at a distance, as DynamoDB is from a function. */
export interface TlsEngine {
  /** Like `https://127.0.0.1:54321`. */
  endpoint: string;
  /** The file with its certificate, for NODE_EXTRA_CA_CERTS. */
  certificate: string;
  stop(): Promise<void>;
}

/**
 * Puts TLS, with a certificate made on the spot, and a delay in front of an engine.
 *
 * @param endpoint the engine's, without TLS.
 * @throws Error when the machine has no openssl.
 */
export async function startTlsEngine(endpoint: string): Promise<TlsEngine> {
  const directory = await mkdtemp(join(tmpdir(), "pet-store-orders-tls-"));
  const key = join(directory, "key.pem");
  const certificate = join(directory, "certificate.pem");
  await makeCertificate(key, certificate);

  const { port, hostname: host } = new URL(endpoint);
  const tls = createTlsServer(
    { key: await readFile(key), cert: await readFile(certificate) },
    (socket) => pipeline(socket, connect({ port: Number(port), host }), socket, () => {}),
  );
  const tlsPort = await listeningPort(tls);
  const distance = createServer({ noDelay: true }, (socket) => {
    const upstream = connect({ port: tlsPort, host: "127.0.0.1", noDelay: true });
    pipeline(socket, later(), upstream, later(), socket, () => {});
  });
  return {
    endpoint: `https://127.0.0.1:${await listeningPort(distance)}`,
    certificate,
    stop: async () => {
      distance.close();
      tls.close();
      await rm(directory, { recursive: true });
    },
  };
}

/** Writes a new key and its certificate into these files. */
async function makeCertificate(key: string, certificate: string): Promise<void> {
  const form = ["-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"];
  const subject = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"];
  const files = ["-keyout", key, "-out", certificate];
  await promisify(execFile)("openssl", ["req", ...form, ...subject, ...files]);
}

/** A stream that holds back what it passes on. */
function later(): Transform {
  const transform: TransformOptions["transform"] = (chunk, _encoding, done) => {
    setTimeout(done, delay, undefined, chunk);
  };
  return new Transform({ transform });
}
