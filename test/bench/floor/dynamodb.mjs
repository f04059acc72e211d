// A call to DynamoDB at its least: one POST over one kept connection, signed by hand (SigV4).
import { createHmac, hash } from "node:crypto";

const {
  AWS_ACCESS_KEY_ID,
  AWS_ENDPOINT_URL_DYNAMODB,
  AWS_REGION,
  AWS_SECRET_ACCESS_KEY,
} = process.env;
const url = new URL(AWS_ENDPOINT_URL_DYNAMODB);
// An ES import of node:http would load undici too.
const { Agent, request } = process.getBuiltinModule(
  url.protocol === "https:" ? "node:https" : "node:http",
);
const agent = new Agent({ keepAlive: true });

export const scan = async (input) => (await call("Scan", input)).body;

/** Resolves with undefined, or with what DynamoDB says when a condition doesn't hold. */
export async function updateItem(input) {
  const { status, body } = await call("UpdateItem", input);
  return status === 200 ? undefined : body;
}

function call(operation, input) {
  const body = JSON.stringify(input);
  const target = `DynamoDB_20120810.${operation}`;
  const date = new Date().toISOString().replace(/[-:]|\.\d{3}/g, "");
  const headers = {
    authorization: authorization(body, target, date),
    "content-length": Buffer.byteLength(body),
    "content-type": "application/x-amz-json-1.0",
    host: url.host,
    "x-amz-date": date,
    "x-amz-target": target,
  };
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: "POST", agent, headers }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk) => {
        text += chunk;
      });
      response.on("end", () =>
        resolve({ status: response.statusCode, body: JSON.parse(text) }),
      );
      response.on("error", reject);
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

function authorization(body, target, date) {
  const signed = "content-type;host;x-amz-date;x-amz-target";
  const scope = `${date.slice(0, 8)}/${AWS_REGION}/dynamodb/aws4_request`;
  const canonical = [
    "POST",
    "/",
    "",
    "content-type:application/x-amz-json-1.0",
    `host:${url.host}`,
    `x-amz-date:${date}`,
    `x-amz-target:${target}`,
    "",
    signed,
    hash("sha256", body),
  ].join("\n");
  const text = ["AWS4-HMAC-SHA256", date, scope, hash("sha256", canonical)].join("\n");
  let key = `AWS4${AWS_SECRET_ACCESS_KEY}`;
  for (const part of scope.split("/")) key = hmac(key, part);
  const signature = hmac(key, text).toString("hex");
  const credential = `${AWS_ACCESS_KEY_ID}/${scope}`;
  return (
    `AWS4-HMAC-SHA256 Credential=${credential}, ` +
    `SignedHeaders=${signed}, Signature=${signature}`
  );
}

function hmac(key, text) {
  return createHmac("sha256", key).update(text).digest();
}
