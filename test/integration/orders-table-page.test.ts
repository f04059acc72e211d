import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import {
  ConditionalCheckFailedException,
  UpdateItemCommand,
} from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { environments } from "../../infra/environments.ts";
import {
  dummyCredentials,
  region,
} from "../../infra/tools/running-stacks/local-account.ts";
import { orderFields, orderStatuses } from "../../shared/order.ts";
import { cancelOrder } from "../../shared/orders-table.ts";
import { placeOrder, reinstateOrder } from "../../shared/recipes/write-orders.ts";
import { machineHas } from "../helpers/machine.ts";
import { testEnvironment } from "../helpers/test-environment.ts";
import { createTestTables } from "../helpers/test-tables.ts";
import { captured } from "../repository/pages.ts";

const inTypeScript = ["--input-type=module-typescript", "--eval"];
const tables = await createTestTables();
const table = tables.tables.orders;
const page = await readFile("shared/ORDERS-TABLE.md", "utf8");
const onCall = await readFile("infra/ON-CALL.md", "utf8");

/** The code blocks of a language, below a heading if there is one. */
function examples(language: string, heading?: string): string[] {
  const isBelow = (part: string) => part.startsWith(`${heading}\n`);
  const section = heading ? (page.split(/\n##+ /).find(isBelow) ?? "") : page;
  return captured(section, new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, "gs"));
}

/** The call that the AWS CLI makes for a command, the only one under a heading. */
async function called([command = "", ...others]: string[]) {
  expect(others).toEqual([]);
  const script = `aws() { printf '%s\\0' "$@"; }\nORDERS=${table} STACK=A\n${command}`;
  const { stdout } = await promisify(execFile)("bash", ["-uc", script]);
  const [service, name = "", ...options] = stdout.split("\0").slice(0, -1);
  expect(service).toBe("dynamodb");
  // `put-item` is `PutItem`, and `--table-name` is `TableName`.
  const inCapitals = (text = "") =>
    text.replaceAll(/(?:^|-+)([a-z])/g, (_, letter) => letter.toUpperCase());
  const pairs = options.map((value, index) => [
    inCapitals(options[index - 1]),
    /^[[{]/.test(value) ? JSON.parse(value) : value.replaceAll(/\s+/g, " "),
  ]);
  return {
    operation: inCapitals(name),
    input: Object.fromEntries(pairs.filter((_, index) => index % 2)),
  };
}

const due = "2026-12-24T12:00:00Z";
const mistake = "2026-12-22T09:30:00Z";
const noticed = "2026-12-22T10:00:00Z";
const placed = { petId: 104, quantity: 2, shipDate: due, complete: false };

test.each<[heading: string, recipe: (client: DynamoDBDocumentClient) => Promise<string>]>(
  [
    ["Place an order", (client) => placeOrder(client, table, 4711n, "cart-1", placed)],
    [
      "Reinstate an order",
      (client) => reinstateOrder(client, table, 4711n, "box-1", mistake, due, noticed),
    ],
  ],
)(
  "the page's command calls the table as its recipe does: %s",
  async (heading, recipe) => {
    const calls: object[] = [];
    const { client } = await tables.behindProxy(({ operation, input }) => {
      calls.push({ operation, input: JSON.parse(input) });
      return undefined;
    });
    await recipe(DynamoDBDocumentClient.from(client));
    expect(calls).toMatchObject([await called(examples("sh", heading))]);
  },
);

const read = { id: { N: "4711" }, status: { S: "pending" }, quantity: { N: "2" } };

test.each([
  ["is as it was read", read],
  ["was cancelled", { ...read, status: { S: "cancelled" } }],
  ["was changed", { ...read, quantity: { N: "5" } }],
  ["was corrected and corrected back", { ...read, correctionId: { S: "typo-2" } }],
])(
  "the page's command corrects an order only if it is as it was read: it %s",
  async (_, order) => {
    await tables.putOrder(order);
    const { operation, input } = await called(examples("sh", "Correct an order"));
    expect(operation).toBe("UpdateItem");
    const refused = await tables.client.send(new UpdateItemCommand(input)).then(
      () => false,
      (error) => error instanceof ConditionalCheckFailedException,
    );
    expect(refused).toBe(order !== read);
    const corrected = { ...read, quantity: { N: "3" }, correctionId: { S: "typo-1" } };
    expect(await tables.items("orders")).toEqual([refused ? order : corrected]);
  },
);

test("the orders table's page shows a cancellation as the service writes it, and on call in a copy", async () => {
  const [json = ""] = examples("json", "Find orders to ship, and cancellations");
  const { eventName, dynamodb } = JSON.parse(json);
  const { Keys, OldImage: before, NewImage: after, StreamViewType } = dynamodb;
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
  expect([eventName, StreamViewType]).toEqual(["MODIFY", "NEW_AND_OLD_IMAGES"]);

  const [enter = "", ship = ""] =
    onCall.match(/^(?:sed -nE|aws dynamodb update-item) [^`]*/gm) ?? [];
  const when = `${cancelledAt.S} (${cancellationId.S})`;
  const negative = (item: object) => ({ ...item, id: { N: `-${id.N}` } });
  const undone = `<(echo 'Order -${id.N} is pending, but ${cancelledBy.S} cancelled it at ${when}')`;
  const shipped = {
    ...before,
    status: { S: "shipped" },
    complete: { BOOL: true },
    shipDate: { S: "2026-11-20T09:00:00Z" },
  };
  for (const [command, start, ended] of [
    [enter.replace("undone.txt", () => undone), negative(before), negative(after)],
    [ship.replace('"ID"', `"${id.N}"`), before, shipped],
  ]) {
    const { input } = await called([command]);
    expect(input.TableName).toBe("A-Orders-copy");
    const update = new UpdateItemCommand({ ...input, TableName: table });
    await expect(tables.client.send(update)).rejects.toThrow(
      ConditionalCheckFailedException,
    );
    await tables.putOrder(start);
    await tables.client.send(update);
    expect(await tables.items("orders")).toContainEqual(ended);
  }
});

type Pattern = { [name: string]: Pattern } | Rule[];
type Rule = string | { exists: false } | { "anything-but": string };

/** Whether an event passes a filter, as Lambda has it: one of the rules for each value. */
function passes(pattern: Pattern, event: unknown): boolean {
  if (!Array.isArray(pattern))
    return Object.entries(pattern).every(([name, part]) =>
      passes(part, Object(event)[name]),
    );
  return pattern.some((rule) => {
    if (typeof rule === "string") return rule === event;
    if ("exists" in rule) return event === undefined;
    return event !== undefined && event !== rule["anything-but"];
  });
}

test("the orders table's page has filters for orders to ship and for cancellations, which miss no event", () => {
  const { FilterCriteria, ...reading } = parse(examples("yaml").join()).Properties;
  expect(reading).toMatchObject({
    BisectBatchOnFunctionError: true,
    StartingPosition: "TRIM_HORIZON",
  });
  const statuses = ["none", "on hold", ...orderStatuses];
  const image = (status: string) => (status === "none" ? {} : { status: { S: status } });
  const changesThatPass = ({ Pattern: text }: { Pattern: string }) =>
    ["no order", ...statuses].flatMap((was) => {
      const OldImage = was === "no order" ? undefined : image(was);
      const passing = statuses.filter((is) =>
        passes(JSON.parse(text), { dynamodb: { OldImage, NewImage: image(is) } }),
      );
      return passing.map((is) => `${was} to ${is}`);
    });
  expect(FilterCriteria.Filters.flatMap(changesThatPass)).toEqual([
    "no order to pending",
    "none to pending",
    "on hold to pending",
    "shipped to pending",
    "cancelled to pending",
    "pending to cancelled",
  ]);
});

const hasBoto3 = machineHas("boto3", "the page's calls in Python");

test.each([
  { language: "ts", command: [process.execPath, ...inTypeScript] },
  ...(hasBoto3 ? [{ language: "python", command: ["python3", "-B", "-c"] }] : []),
])("the page's calls in $language place and correct an order", async (row) => {
  const [calls = ""] = examples(row.language);
  const [program = "", ...options] = row.command;
  const { stdout } = await promisify(execFile)(program, [...options, calls], {
    cwd: "shared/recipes",
    env: {
      ...testEnvironment,
      PATH: process.env["PATH"],
      AWS_DEFAULT_REGION: testEnvironment.AWS_REGION,
      AWS_ENDPOINT_URL_DYNAMODB: tables.dynamodbEndpoint,
      ORDERS: table,
    },
  });
  expect(stdout).toBe("placed\ncorrected\n");
  expect(await tables.items("orders")).toMatchObject([
    { id: { N: "4712" }, petId: { N: "105" }, quantity: { N: "3" } },
  ]);
});

test("the orders table's page shows parts of the recipes as they are", async () => {
  for (const [language, file] of [
    ["ts", "write-orders.ts"],
    ["python", "write_orders.py"],
  ] as const) {
    const [, shown = "", ...others] = examples(language);
    expect(others).toEqual([]);
    expect(await readFile(`shared/recipes/${file}`, "utf8")).toContain(shown);
  }
});

const rows = [...page.matchAll(/^\| (`.*?) \| (\w+) \| (.*) \| (.*) \|$/gm)];
const names = (text = "") => captured(text, /`(\w+)`/g);

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

const { accessKeyId } = dummyCredentials;
test("the orders table's page has the names, outcomes, limits and options that no call above shows", () => {
  const prose = page.replaceAll(/\s+/g, " ");
  const stated = [
    `--output text \\ --query "Stacks[0].Outputs[?OutputKey=='OrdersTableName'].OutputValue")`,
    "unset AWS_PROFILE #",
    `AWS_ENDPOINT_URL=ENDPOINT AWS_ACCESS_KEY_ID=${accessKeyId} `,
    `AWS_REGION=${region} AWS_DEFAULT_REGION=${region} export ORDERS=${environments.staging.stackName}-Orders `,
    "{ requestTimeout: 5000, socketTimeout: 5000, throwOnRequestTimeout: true }",
    "Key, ConsistentRead: true }); const { Item: order = Key }",
    'Key=key, ConsistentRead=True).get("Item", key)',
    "`dynamodb:DescribeStream`, `GetRecords` and `GetShardIterator` on the stream, and `ListStreams` on `*`",
    ...["pending", "cancelled"].map(
      (status) => `--status ${status} --json > ${status}.ndjson`,
    ),
    "`placed`, `already placed by you` or `taken`",
    "`corrected`, `changed since` (perhaps after your own correction), `not pending` or `no such order`",
    "`reinstated` (even if the order has shipped since), `changed since` or `no such order`",
  ];
  expect(stated.filter((text) => !prose.includes(text))).toEqual([]);
});
