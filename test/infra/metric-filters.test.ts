import { describe, expect, test } from "vitest";
import { type FunctionEntry, functionList } from "../../infra/stack/function-list.ts";
import { readFilters } from "../helpers/alarms/definitions.ts";
import { templates } from "../helpers/synthesise.ts";

const crashed = [
  '(($.type = "platform.report") && ($.record.status = "timeout"))',
  '(($.type = "platform.report") && ($.record.status = "failure"))',
  '(($.type = "platform.report") && ($.record.status = "error") && ($.record.errorType = "Runtime.*"))',
];
const event = (name: string) => `($.message.event = "${name}")`;
const any = (...patterns: string[]) => `{ ${patterns.join(" || ")} }`;

/** A request that the gateway neither rejected nor failed to authorize. */
const letIn = (method: string, resource: string) =>
  [
    `($.method = "${method}") && ($.resource = "${resource}")`,
    ...["AUTHORIZER_*", "THROTTLED", "UNAUTHORIZED"].map((type) => `($.responseType != "${type}")`),
  ].join(" && ");

const metrics: Record<string, [logGroup: string, pattern: string, value: string, dimensions?: object]> = {
  OrdersCancelled: ["CancelOrderLog", '{ $.message.event = "order_cancelled" }', "1"],
  CancelsRejected: ["CancelOrderLog", '{ $.message.event = "cancel_rejected" }', "1", { Code: "$.message.code" }],
  OrdersListed: ["ListOrdersLog", '{ $.message.event = "orders_listed" }', "1"],
  ListFirstPage: ["ListOrdersLog", "{ $.message.firstPageMilliseconds >= 0 }", "$.message.firstPageMilliseconds"],
  ListsCutOff: ["ListOrdersLog", any(event("list_cut_off"), ...crashed), "1"],
  KeysRejected: ["AuthorizeLog", '{ $.message.errorMessage = "Unauthorized" }', "1"],
  RequestsThrottled: ["ApiAccessLog", '{ $.status = "429" }', "1"],
  AuthorizeServerErrors: ["ApiAccessLog", '{ $.responseType = "AUTHORIZER_*" }', "1"],
};

for (const { id, failures, operation } of Object.values<FunctionEntry>(functionList)) {
  const responses = operation && letIn(operation.method, operation.path);
  if (responses) {
    metrics[`${id}Responses`] = ["ApiAccessLog", `{ ${responses} }`, "1"];
    metrics[`${id}ServerErrors`] = ["ApiAccessLog", `{ ${responses} && ($.status = "5*") }`, "1"];
  }
  metrics[`${id}Failed`] = [`${id}Log`, any(...failures.map(event), ...crashed), "1"];
}

describe.each(templates)("the metrics of %s", (environment, template) => {
  const filters = readFilters(template.toJSON());

  test("are these, under the environment's own namespace", () => {
    expect(filters.map(({ name }) => name).sort()).toEqual(Object.keys(metrics).sort());
    expect(new Set(filters.map(({ namespace }) => namespace))).toEqual(new Set([`PetStoreOrders/${environment}`]));
  });

  test.each(filters.map((filter) => [filter.name, filter] as const))(
    "%s counts what is written here",
    (name, filter) => {
      const { logGroup, pattern, value, dimensions } = filter;
      expect([logGroup, pattern, value, dimensions]).toEqual([...(metrics[name] ?? []), {}].slice(0, 4));
    },
  );
});
