import { buffer } from "node:stream/consumers";
import { Gateway } from "../../infra/local/gateway/gateway.ts";
import { listen } from "../../infra/local/gateway/listener.ts";
import type { FunctionDefinition } from "../../infra/local/lambda/execution-environment.ts";
import { readRestApi } from "../../infra/local/template/rest-api.ts";
import { send } from "../helpers/answer.ts";
import { authorizeEvent, cancelEvent, listEvent } from "./events.ts";
import { type Row, ratioRow } from "./row.ts";
import { interleaved, timed } from "./samples.ts";
import { floorOf, hostOf, type Subject } from "./subject.ts";

const runs = 15;
const bound = { goal: 2.5, margin: 0.1 };

/** Each function from the start of its process to its first answer, beside an empty handler. */
export async function coldStarts({ functions, apiKey }: Subject): Promise<Row[]> {
  const events = { ListOrders: listEvent(), CancelOrder: cancelEvent(-1), Authorize: authorizeEvent(apiKey) };
  const rows: Row[] = [];
  for (const name of ["ListOrders", "CancelOrder", "Authorize"] as const) {
    const sample = await interleaved(
      runs,
      () => firstAnswer(functions[name], events[name]),
      () => firstAnswer(floorOf(functions[name], "empty"), events[name]),
    );
    rows.push(ratioRow(`cold start of ${name}`, { ...sample, unit: "ms" }, bound));
  }
  return rows;
}

/** A client's first cancellation when no process runs yet: the authorizer, then the operation. */
export async function firstCancel(subject: Subject): Promise<Row> {
  const { Authorize, CancelOrder, ListOrders } = subject.functions;
  const sample = await interleaved(
    runs,
    () => firstRequest(subject, [Authorize, CancelOrder, ListOrders], 404),
    () => firstRequest(subject, [floorOf(Authorize, "admit"), floorOf(CancelOrder, "empty"), ListOrders], 204),
  );
  return ratioRow("first authorised cancel, cold", { ...sample, unit: "ms" }, bound);
}

async function firstAnswer(definition: FunctionDefinition, event: unknown): Promise<number> {
  const host = hostOf(definition);
  try {
    return await timed(async () => {
      const answer = await host.invoke(definition.name, event);
      if (answer.kind === "streamed") await buffer(answer.body);
    });
  } finally {
    await host.stop();
  }
}

async function firstRequest(subject: Subject, definitions: FunctionDefinition[], expected: number): Promise<number> {
  const host = hostOf(...definitions);
  const gateway = new Gateway(readRestApi(subject.stack.template), host, { clock: Date.now, log: () => {} });
  const listener = await listen(0, (request, response) => void gateway.serve(request, response));
  try {
    return await timed(async () => {
      // An order that does not exist is as much work as one that does, and leaves nothing behind.
      const headers = { authorization: `Bearer ${subject.apiKey}` };
      const url = `http://127.0.0.1:${listener.port}/v1/store/orders/-1`;
      const { status, body } = await send(url, { method: "DELETE", headers });
      if (status !== expected) throw new Error(`The first cancel answered ${status}: ${body}`);
    });
  } finally {
    await listener.close();
    await host.stop();
  }
}
