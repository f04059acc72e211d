import { execFile } from "node:child_process";
import { readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import {
  ConditionalCheckFailedException,
  DynamoDBClient,
  PutItemCommand,
  PutItemInput$,
  UpdateItemCommand,
  UpdateItemInput$,
} from "@aws-sdk/client-dynamodb";
import { describe, expect, onTestFinished, test } from "vitest";
import { orderRules } from "../../infra/tools/admin/repair-rules.ts";
import { type OrderItem, orderFields, orderStatuses } from "../../shared/order.ts";
import { cancelOrder } from "../../shared/orders-table.ts";
import { applied, unnoticed } from "../helpers/faults/faults.ts";
import { machineHas } from "../helpers/machine.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";
import { createTestTables } from "../helpers/test-tables.ts";
import { startLineProcess } from "../openapi/line-process.ts";

const tables = await createTestTables();
const table = tables.tables.orders;
const page = await readFile("shared/ORDERS-TABLE.md", "utf8");

/** The code blocks of a language under a heading. */
function examples(heading: string, language: string): string[] {
  const section =
    page.split("\n## ").find((part) => part.startsWith(`${heading}\n`)) ?? "";
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
  const [command = "", ...others] = examples(heading, "sh");
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

// The page's code finds the project's packages there.
await using folder = await temporaryFolder();
const file = join(folder.path, "ship-order.mts");
await symlink(join(process.cwd(), "node_modules"), join(folder.path, "node_modules"));
await writeFile(file, examples("Ship an order", "ts").join("\n"));
const { shipOrder } = await import(file);
const shipInTypeScript = (id: bigint, shipmentId: string, client = tables.client) =>
  shipOrder(client, table, id, shipmentId);

/** Starts the page's Python, whose calls the client makes. */
function startPython() {
  const program = `${import.meta.dirname}/ship_order_calls.py`;
  const example = examples("Ship an order", "python").join("");
  const ask = startLineProcess("python3", ["-B", program, example]);
  return async (id: bigint, shipmentId: string, client = tables.client) => {
    const answer = await client
      .send(new UpdateItemCommand(await ask([table, `${id}`, shipmentId])))
      .then(
        ({ $metadata, ...response }) => ({ response }),
        ({ Item }: ConditionalCheckFailedException) => ({ failure: { Item } }),
      );
    return await ask(answer);
  };
}

const shippers = [{ language: "TypeScript", ship: shipInTypeScript }];
if (machineHas("Python 3.10", "the orders table's page in Python"))
  shippers.push({ language: "Python", ship: startPython() });

const pending: OrderItem = { id: { N: "4711" }, status: { S: "pending" } };
const cancelled: OrderItem = { ...pending, status: { S: "cancelled" } };

test("the page's commands place, correct and ship an order", async () => {
  for (const heading of ["Place an order", "Correct an order", "Ship an order"])
    await run(heading);
  const order = {
    id: { N: "4711" },
    petId: { N: "104" },
    quantity: { N: "3" },
    shipDate: { S: "2026-12-22T09:30:00Z" },
    complete: { BOOL: true },
    status: { S: "shipped" },
    shipmentId: { S: "parcel-1" },
  };
  expect(await tables.items("orders")).toEqual([order]);
});

test.each([
  ["does not exist", "Ship an order", []],
  ["does not exist", "Correct an order", []],
  ["already exists", "Place an order", [pending]],
  ["was cancelled", "Place an order", [cancelled]],
  ["was cancelled", "Ship an order", [cancelled]],
])(
  "the page's commands change nothing when the order %s: %s",
  async (_, heading, orders) => {
    for (const order of orders) await tables.putOrder(order);
    await expect(run(heading)).rejects.toThrow(ConditionalCheckFailedException);
    expect(await tables.items("orders")).toEqual(orders);
  },
);

test("the page's commands set back an order that was shipped by mistake, which no repair then ends", async () => {
  await run("Place an order");
  await run("Ship an order");
  const [shipped = {}] = await tables.items("orders");
  await run("Reinstate an order");
  const [order = {}] = await tables.items("orders");
  expect(order).toMatchObject({ status: { S: "pending" }, complete: { BOOL: false } });
  expect(orderRules([]).judge(shipped, order)).toEqual({ outcome: "reinstated" });
});

test("the page's commands find the table by the output OrdersTableName of a stack", async () => {
  const script = examples("Find the table", "sh").join("");
  const command = script.replace(/ORDERS=\$\((.*)\)/s, "$1");
  expect((await awsArguments(command)).join(" ")).toMatch(
    /^cloudformation describe-stacks --stack-name \S+ --output text --query Stacks\[0]\.Outputs\[\?OutputKey=='OrdersTableName']\.OutputValue$/,
  );
});

describe.each(shippers)("the $language of the orders table's page", ({ ship }) => {
  test("tells two shippers that race a cancellation who won", async () => {
    const shipped = {
      status: "shipped",
      complete: true,
      request: "order_already_shipped",
    };
    const outcomesByWinner: Record<string, object> = {
      a: { ...shipped, a: "shipped", b: "shipped by someone else" },
      b: { ...shipped, a: "shipped by someone else", b: "shipped" },
      request: { status: "cancelled", a: "cancelled", b: "cancelled", request: "204" },
    };
    const cancellation = {
      orderId: 4711n,
      cancelledBy: "key_a",
      cancelledAt: new Date(),
      cancellationId: "request",
    };
    const cancel = () => cancelOrder(tables.client, table, cancellation);
    const racers: [name: string, race: () => Promise<string>][] = [
      ["a", () => ship(4711n, "a")],
      ["b", () => shipInTypeScript(4711n, "b")],
      [
        "request",
        () =>
          cancel()
            .then(() => "204")
            .catch(({ code }) => code),
      ],
    ];
    for (let round = 1; round <= 21; round++) {
      await tables.putOrder(pending);
      // Each starts first in a third of the rounds.
      racers.push(...racers.splice(0, 1));
      const outcomes = racers.map(async ([name, race]) => [name, await race()]);
      const outcomeByName = Object.fromEntries(await Promise.all(outcomes));
      const [order = {}] = await tables.items("orders");
      const winner = order["shipmentId"]?.S ?? order["cancellationId"]?.S ?? "none";
      const status = order["status"]?.S;
      expect({ ...outcomeByName, status, complete: order["complete"]?.BOOL }).toEqual(
        outcomesByWinner[winner],
      );
    }
  });

  const shipped = { status: { S: "shipped" } };
  test.each<[order: OrderItem | undefined, outcome: string]>([
    [undefined, "no such order"],
    [{ status: { S: "pending" } }, "shipped"],
    [{ ...shipped, shipmentId: { S: "a" } }, "shipped"],
    [{ ...shipped, shipmentId: { S: "b" } }, "shipped by someone else"],
    [shipped, "shipped by someone else"],
    [{ status: { S: "cancelled" }, shipmentId: { S: "a" } }, "cancelled"],
    [{ status: { S: "on hold" }, shipmentId: { S: "a" } }, "not pending"],
    [{ status: { N: "1" } }, "not pending"],
    [{}, "not pending"],
  ])(
    "ships the order %j with the outcome %s, though a response is lost",
    async (order, outcome) => {
      if (order) await tables.putOrder({ id: { N: "4711" }, ...order });
      const { client } = await tables.behindProxy(({ attempt }) =>
        attempt === 1 ? applied["reset after the engine"] : undefined,
      );
      expect(await ship(4711n, "a", client)).toBe(outcome);
    },
  );

  test("fails when the response is empty", async () => {
    const { proxy } = await tables.behindProxy(
      () => unnoticed["an empty response of no length"],
    );
    // Without our retries, as other teams have it.
    const client = new DynamoDBClient({ endpoint: proxy.endpoint });
    onTestFinished(() => client.destroy());
    const outcome = await ship(4711n, "a", client).catch(({ message }: Error) => message);
    expect(outcome).toBe("The response is empty");
  });
});

const event = JSON.parse(examples("Listen for cancellations", "json")[0] ?? "");
const { OldImage: before, NewImage: after } = event.dynamodb;

test("the orders table's page shows the event of a cancellation as the service writes it", async () => {
  const { id, cancelledAt, cancelledBy, cancellationId } = after;
  await tables.putOrder(before);
  await cancelOrder(tables.client, table, {
    orderId: BigInt(id.N),
    cancelledAt: new Date(cancelledAt.S),
    cancelledBy: cancelledBy.S,
    cancellationId: cancellationId.S,
  });
  expect(await tables.items("orders")).toEqual([after]);
  expect(event.dynamodb.Keys).toEqual({ id });
});

test("the orders table's page has an event filter that passes nothing but cancellations", () => {
  const filter = JSON.parse(examples("Listen for cancellations", "json")[1] ?? "");
  const status = (order: OrderItem) => ({ status: { S: [order["status"]?.S] } });
  const dynamodb = { OldImage: status(before), NewImage: status(after) };
  expect(filter).toEqual({ eventName: ["MODIFY"], dynamodb });
});

const rows = [...page.matchAll(/^\| (`.*?) \| (\w+) \| (.*) \| (.*) \|$/gm)];
const names = (text = "") => [...text.matchAll(/`(\w+)`/g)].map(([, name]) => name);

test("the orders table's page names every attribute of the service with its type, and every status", () => {
  const types = { int64: "N", "date-time": "S", boolean: "BOOL" };
  expect(rows.map(([, attributes, type]) => `${names(attributes)}: ${type}`)).toEqual([
    ...orderFields.map((field) => `${field.name}: ${types[field.type]}`),
    "status: S",
    "cancelledAt,cancelledBy,cancellationId: S",
    "reinstatedAt: S",
  ]);
  const statuses = rows.find(([row]) => row.includes("`status`"))?.[3];
  expect(names(statuses)).toEqual([...orderStatuses]);
});

test("the orders table's page has a policy for the calls of the examples on the table of orders", () => {
  const policy = JSON.parse(examples("Find the table", "json").join());
  expect(policy.Statement[0]).toEqual({
    Effect: "Allow",
    Action: ["dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem"],
    Resource: "arn:aws:dynamodb:REGION:ACCOUNT:table/NAME",
  });
});
