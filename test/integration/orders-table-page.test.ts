import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import {
  ConditionalCheckFailedException,
  PutItemCommand,
  PutItemInput$,
  UpdateItemCommand,
  UpdateItemInput$,
} from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { orderRules } from "../../infra/tools/admin/repair-rules.ts";
import { type OrderItem, orderFields, orderStatuses } from "../../shared/order.ts";
import { cancelOrder } from "../../shared/orders-table.ts";
import { shipOrder } from "../../shared/recipes/write-orders.ts";
import { createTestTables } from "../helpers/test-tables.ts";

const tables = await createTestTables();
const table = tables.tables.orders;
const page = await readFile("shared/ORDERS-TABLE.md", "utf8");

/** The code blocks of a language, below a heading if there is one. */
function examples(language: string, heading?: string): string[] {
  const isBelow = (part: string) => part.startsWith(`${heading}\n`);
  const section = heading ? (page.split(/\n##+ /).find(isBelow) ?? "") : page;
  const blocks = section.split("```").filter((part) => part.startsWith(`${language}\n`));
  return blocks.map((block) => block.slice(language.length));
}

/** The arguments with which a command of the page calls the AWS CLI. */
async function awsArguments(command: string): Promise<string[]> {
  const script = `aws() { printf '%s\\0' "$@"; }\nORDERS=${table}\n${command}`;
  const { stdout } = await promisify(execFile)("bash", ["-uc", script]);
  return stdout.split("\0").slice(0, -1);
}

/** Calls the table as the AWS CLI would for the only command under a heading. */
async function run(heading: string): Promise<unknown> {
  const [command = "", ...others] = examples("sh", heading);
  expect(others).toEqual([]);
  const [service, operation, ...options] = await awsArguments(command);
  const isPut = operation === "put-item";
  expect([service, operation]).toEqual(["dynamodb", isPut ? "put-item" : "update-item"]);
  const pairs = options.flatMap((value, index) => {
    if (index % 2 === 0) return [];
    // `--table-name` is `TableName`.
    const member = options[index - 1]?.replaceAll(/-+(.)/g, (_, letter) =>
      letter.toUpperCase(),
    );
    return [[member, /^[[{]/.test(value) ? JSON.parse(value) : value]];
  });
  const input = Object.fromEntries(pairs);
  // The fifth item of the SDK's schema of a structure has the names of its members.
  const members = (isPut ? PutItemInput$ : UpdateItemInput$)[4];
  expect(members).toEqual(expect.arrayContaining(Object.keys(input)));
  if (isPut) return tables.client.send(new PutItemCommand(input));
  return tables.client.send(new UpdateItemCommand(input));
}

const pending: OrderItem = { id: { N: "4711" }, status: { S: "pending" } };
const shippedLater: OrderItem = { ...pending, status: { S: "shipped" } };
const cancelled: OrderItem = { ...pending, status: { S: "cancelled" } };

const documents = DynamoDBDocumentClient.from(tables.client);
const mistake = "2026-12-22T09:30:00Z";
const shipByMistake = () => shipOrder(documents, table, 4711n, "parcel-1", mistake);

test("the page's commands place and correct an order", async () => {
  for (const heading of ["Place an order", "Correct an order"]) await run(heading);
  const order = {
    id: { N: "4711" },
    petId: { N: "104" },
    quantity: { N: "3" },
    shipDate: { S: "2026-12-24T12:00:00Z" },
    complete: { BOOL: false },
    status: { S: "pending" },
    placementId: { S: "cart-1" },
    correctionId: { S: "typo-1" },
  };
  expect(await tables.items("orders")).toEqual([order]);
});

test.each([
  ["does not exist", "Correct an order", []],
  ["was cancelled", "Correct an order", [{ ...cancelled, quantity: { N: "2" } }]],
  ["was changed", "Correct an order", [{ ...pending, quantity: { N: "5" } }]],
  [
    "was corrected and corrected back",
    "Correct an order",
    [{ ...pending, quantity: { N: "2" }, correctionId: { S: "typo-2" } }],
  ],
  ["already exists", "Place an order", [pending]],
  ["was cancelled", "Place an order", [cancelled]],
  ["was cancelled", "Reinstate an order", [cancelled]],
  ["was shipped later", "Reinstate an order", [shippedLater]],
])(
  "the page's commands change nothing when the order %s: %s",
  async (_, heading, orders) => {
    for (const order of orders) await tables.putOrder(order);
    await expect(run(heading)).rejects.toThrow(ConditionalCheckFailedException);
    expect(await tables.items("orders")).toEqual(orders);
  },
);

test("the page's command reinstates an order without its proof of shipment, and no repair ends it", async () => {
  await run("Place an order");
  const [placed = {}] = await tables.items("orders");
  expect(await shipByMistake()).toBe("shipped");
  const [shipped = {}] = await tables.items("orders");
  await run("Reinstate an order");
  const [order = {}] = await tables.items("orders");
  expect(order).toEqual({ ...placed, reinstatedAt: { S: "2026-12-22T10:00:00Z" } });
  expect(orderRules([]).judge(shipped, order)).toEqual({ outcome: "reinstated" });
});

test("the page's commands find the table by the output OrdersTableName of a stack", async () => {
  const script = examples("sh", "Find the table").join("");
  const command = script.replace(/ORDERS=\$\((.*)\)/s, "$1");
  expect((await awsArguments(command)).join(" ")).toMatch(
    /^cloudformation describe-stacks --stack-name \S+ --output text --query Stacks\[0]\.Outputs\[\?OutputKey=='OrdersTableName']\.OutputValue$/,
  );
});

test("the orders table's page shows the event of a cancellation as the service writes it", async () => {
  const [json = ""] = examples("json", "Find orders to ship, and cancellations");
  const { Keys, OldImage: before, NewImage: after } = JSON.parse(json).dynamodb;
  const { id, cancelledAt, cancelledBy, cancellationId } = after;
  await tables.putOrder(before);
  await cancelOrder(tables.client, table, {
    orderId: BigInt(id.N),
    cancelledAt: new Date(cancelledAt.S),
    cancelledBy: cancelledBy.S,
    cancellationId: cancellationId.S,
  });
  expect(await tables.items("orders")).toEqual([after]);
  expect(Keys).toEqual({ id });
});

type Pattern = { [name: string]: Pattern } | Rule[];
type Event = { [name: string]: Event | string | undefined };
type Rule = string | { exists: false } | { "anything-but": string };

/** Whether an event passes a filter, as Lambda has it: one of the rules for each value. */
function passes(pattern: Pattern, event: Event | string | undefined): boolean {
  if (!Array.isArray(pattern)) {
    const parts = typeof event === "object" ? event : {};
    return Object.entries(pattern).every(([name, part]) => passes(part, parts[name]));
  }
  return pattern.some((rule) => {
    if (typeof rule === "string") return rule === event;
    if ("exists" in rule) return event === undefined;
    return event !== undefined && event !== rule["anything-but"];
  });
}

test("the orders table's page has event filters for orders to ship and for cancellations", () => {
  const { Filters } = parse(examples("yaml").join()).Properties.FilterCriteria;
  const statuses = ["none", "on hold", ...orderStatuses];
  const image = (status: string): Event =>
    status === "none" ? {} : { status: { S: status } };
  const changesThatPass = ({ Pattern: text }: { Pattern: string }) =>
    ["no order", ...statuses].flatMap((was) => {
      const OldImage = was === "no order" ? undefined : image(was);
      const passing = statuses.filter((is) =>
        passes(JSON.parse(text), { dynamodb: { OldImage, NewImage: image(is) } }),
      );
      return passing.map((is) => `${was} to ${is}`);
    });
  expect(Filters.flatMap(changesThatPass)).toEqual([
    "no order to pending",
    "none to pending",
    "on hold to pending",
    "shipped to pending",
    "cancelled to pending",
    "pending to cancelled",
  ]);
});

test("the orders table's page shows parts of the recipes as they are", async () => {
  for (const [language, file] of [
    ["ts", "write-orders.ts"],
    ["python", "write_orders.py"],
  ] as const) {
    const [shown = "", ...others] = examples(language);
    expect(others).toEqual([]);
    expect(await readFile(`shared/recipes/${file}`, "utf8")).toContain(shown);
  }
});

const rows = [...page.matchAll(/^\| (`.*?) \| (\w+) \| (.*) \| (.*) \|$/gm)];
const names = (text = "") => [...text.matchAll(/`(\w+)`/g)].map(([, name]) => name);

test("the orders table's page names every attribute of the service with its type, and every status", () => {
  const types = { int64: "N", "date-time": "S", boolean: "BOOL" };
  expect(rows.map(([, attributes, type]) => `${names(attributes)}: ${type}`)).toEqual([
    ...orderFields.map((field) => `${field.name}: ${types[field.type]}`),
    "status: S",
    "placementId,shipmentId,correctionId: S",
    "cancelledAt,cancelledBy,cancellationId: S",
    "reinstatedAt: S",
  ]);
  const statuses = rows.find(([row]) => row.includes("`status`"))?.[3];
  expect(names(statuses)).toEqual([...orderStatuses]);
});
