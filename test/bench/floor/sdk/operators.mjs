// The least work, through the SDK, that keeps the promises of `orders import`, `export` and `ship`.
import { randomUUID } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { createInterface } from "node:readline";
import { pipeline } from "node:stream/promises";
import { PutItemCommand, ScanCommand, UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import { client } from "./dynamodb.mjs";

const atOnce = 48;
const [command, TableName, file] = process.argv.slice(2);

async function eachLine(work) {
  const lines = createInterface({ input: createReadStream(file) })[
    Symbol.asyncIterator
  ]();
  const worker = async () => {
    for await (const line of lines) await work(line);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

function insert(line) {
  const { id, petId, quantity, shipDate, complete, status } = JSON.parse(line);
  const Item = {
    id: { N: `${id}` },
    petId: { N: `${petId}` },
    quantity: { N: `${quantity}` },
    shipDate: { S: shipDate },
    complete: { BOOL: complete },
    status: { S: status },
  };
  const ConditionExpression = "attribute_not_exists(id)";
  return client.send(new PutItemCommand({ TableName, Item, ConditionExpression }));
}

function ship(id) {
  const command = new UpdateItemCommand({
    TableName,
    Key: { id: { N: id } },
    UpdateExpression:
      "SET #status = :shipped, shipDate = :now, complete = :true, shipmentId = :own",
    ConditionExpression: "#status = :pending",
    ExpressionAttributeNames: { "#status": "status" },
    ExpressionAttributeValues: {
      ":shipped": { S: "shipped" },
      ":pending": { S: "pending" },
      ":now": { S: new Date().toISOString() },
      ":true": { BOOL: true },
      // Tells this write from another's, if its response is lost.
      ":own": { S: randomUUID() },
    },
    ReturnValuesOnConditionCheckFailure: "ALL_OLD",
  });
  return client.send(command);
}

async function* pages() {
  let ExclusiveStartKey;
  do {
    const scan = new ScanCommand({ TableName, ConsistentRead: true, ExclusiveStartKey });
    const { Items, LastEvaluatedKey } = await client.send(scan);
    yield Items.map(lineOf).join("");
    ExclusiveStartKey = LastEvaluatedKey;
  } while (ExclusiveStartKey);
}

function lineOf({ id, petId, quantity, shipDate, complete, status }) {
  return `{"id":${id.N},"petId":${petId.N},"quantity":${quantity.N},"shipDate":"${shipDate.S}","complete":${complete.BOOL},"status":"${status.S}"}\n`;
}

if (command === "export") await pipeline(pages(), createWriteStream(file));
else if (command === "import") await eachLine(insert);
else await eachLine(ship);
