import { fileURLToPath } from "node:url";
import { startLineProcess } from "../helpers/line-process.ts";
import { machineHas } from "../helpers/machine.ts";
import { documentFile } from "../helpers/openapi/document.ts";

/** A call of a client to copy: the cancellation of an order, or a list. */
export interface Call {
  baseUrl: string;
  apiKey: string;
  /** In milliseconds. */
  timeout: number;
  /** An order id as JSON, right or wrong; undefined for a list. */
  cancel?: string;
}

/** What a call comes to. Its pauses take no time. */
export interface Outcome {
  /** The orders as JSON, `cancelled`, or the name, status and code of the error. */
  result: string;
  /** In seconds; the random part of each is half of the longest. */
  pauses: number[];
  /** The error's message. */
  message: string;
  /** All that a log may show of the error. */
  shown: string;
}

/** Starts the clients to copy, each in a process of its language. */
export function startClients() {
  const clients = [
    { language: "TypeScript", ...start(process.execPath, "orders-client-calls.ts") },
  ];
  if (machineHas("Python 3.10", "the client in Python"))
    clients.push({ language: "Python", ...start("python3", "orders_client_calls.py") });
  return clients;
}

function start(command: string, file: string) {
  const { ask, stop } = startLineProcess(command, [fileURLToPath(new URL(file, import.meta.url))], {
    PYTHONPATH: fileURLToPath(new URL("clients", documentFile)),
    PYTHONDONTWRITEBYTECODE: "1",
  });
  return { call: (call: Call): Promise<Outcome> => ask(call), stop };
}
