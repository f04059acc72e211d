import { describe, expect, test } from "vitest";
import { createEngineProxy } from "../helpers/admin/engine-proxy.ts";
import { createLocalOperator } from "../helpers/admin/local-operator.ts";
import { makeLines, sortedLines } from "../helpers/admin/order-file-lines.ts";

const { tables, operator } = await createLocalOperator();
const orders = (...args: string[]) => operator.run(["orders", ...args, "--local"]);

describe("orders import", () => {
  test("killed halfway and run again finishes the rest, every order there once", async () => {
    const lines = makeLines(400);
    const file = await operator.write("orders.ndjson", `${lines.join("\n")}\n`);
    const { promise: halfway, resolve } = Promise.withResolvers<void>();
    let puts = 0;
    const proxy = await createEngineProxy(tables.dynamodbEndpoint, (operation) => {
      if (operation !== "PutItem" || ++puts <= 200) return "pass";
      resolve();
      return "hold";
    });
    await operator.pointTo({ ...tables, dynamodbEndpoint: proxy.endpoint });
    const running = operator.start(["orders", "import", file, "--local"]);
    await halfway;
    running.kill("SIGKILL");
    expect(await running.ended).toMatchObject({ code: null, stdout: "" });
    await proxy.stop();

    await operator.pointTo(tables);
    const again = await orders("import", file, "--json");
    expect(again.code).toBe(0);
    expect(JSON.parse(again.stdout)).toEqual({
      badLines: [],
      orders: 400,
      written: 200,
      alreadyThere: 200,
      failed: 0,
    });
    const exported = await orders("export");
    expect(exported).toMatchObject({ code: 0, stderr: "400 orders exported\n" });
    expect(sortedLines(exported.stdout)).toEqual(lines.sort());
  });

  test("interrupted ends by itself with counts that add up", async () => {
    const file = await operator.write("orders.ndjson", makeLines(300).join("\n"));
    const { promise: begun, resolve } = Promise.withResolvers<void>();
    let puts = 0;
    const throttled = { status: 400, body: { __type: "com.amazonaws.dynamodb.v20120810#ThrottlingException" } };
    const proxy = await createEngineProxy(tables.dynamodbEndpoint, (operation) => {
      if (operation !== "PutItem" || ++puts <= 100) return "pass";
      if (puts > 200) resolve();
      return throttled;
    });
    await operator.pointTo({ ...tables, dynamodbEndpoint: proxy.endpoint });
    const running = operator.start(["orders", "import", file, "--local", "--json"]);
    await begun;
    running.kill("SIGINT");
    const { code, stdout, stderr } = await running.ended;
    await proxy.stop();
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toEqual({ badLines: [], orders: 300, written: 100, alreadyThere: 0, failed: 200 });
    expect(stderr).toBe("Interrupted. Run it again to write the rest.\n");
    expect(await tables.items("orders")).toHaveLength(100);
  });

  test("never overwrites an order, so it resurrects none that was cancelled", async () => {
    const cancelled = { id: { N: "1" }, status: { S: "cancelled" }, cancelledBy: { S: "key_1" } };
    await tables.put("orders", cancelled);
    const file = await operator.write("orders.ndjson", '\n{"id":1,"status":"pending"}\r\n\n{"id":2}');
    expect(await orders("import", file)).toEqual({
      code: 0,
      stdout: "2 orders: 1 written, 1 already there, 0 failed\n",
      stderr: "",
    });
    const items = await tables.items("orders");
    expect(items).toHaveLength(2);
    expect(items).toEqual(expect.arrayContaining([cancelled, { id: { N: "2" }, status: { S: "pending" } }]));
  });

  test("tries a throttled write again, for longer than the SDK does", async () => {
    const file = await operator.write("orders.ndjson", '{"id":1}\n{"id":2}');
    const body = { __type: "com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException" };
    let puts = 0;
    const proxy = await createEngineProxy(tables.dynamodbEndpoint, (operation) =>
      operation === "PutItem" && ++puts <= 10 ? { status: 400, body } : "pass",
    );
    await operator.pointTo({ ...tables, dynamodbEndpoint: proxy.endpoint });
    const { code, stdout } = await orders("import", file);
    await proxy.stop();
    expect(puts).toBe(12);
    expect({ code, stdout }).toEqual({ code: 0, stdout: "2 orders: 2 written, 0 already there, 0 failed\n" });
  });

  test("counts an order as written when only the answer was lost", async () => {
    const file = await operator.write("orders.ndjson", '{"id":1}');
    let puts = 0;
    const proxy = await createEngineProxy(tables.dynamodbEndpoint, (operation) =>
      operation === "PutItem" && ++puts === 1 ? "lose the answer" : "pass",
    );
    await operator.pointTo({ ...tables, dynamodbEndpoint: proxy.endpoint });
    const { code, stdout } = await orders("import", file);
    await proxy.stop();
    expect(puts).toBe(2);
    expect({ code, stdout }).toEqual({ code: 0, stdout: "1 orders: 1 written, 0 already there, 0 failed\n" });
  });

  test("stops at a failure, with one line and counts that add up", async () => {
    const file = await operator.write("orders.ndjson", makeLines(200).join("\n"));
    let puts = 0;
    const proxy = await createEngineProxy(tables.dynamodbEndpoint, (operation) =>
      operation === "PutItem" && ++puts > 60
        ? { status: 400, body: { __type: "AccessDeniedException", message: "not authorized to perform PutItem" } }
        : "pass",
    );
    await operator.pointTo({ ...tables, dynamodbEndpoint: proxy.endpoint });
    const { code, stdout, stderr } = await orders("import", file);
    await proxy.stop();
    expect({ code, stdout }).toEqual({ code: 1, stdout: "200 orders: 60 written, 0 already there, 140 failed\n" });
    expect(stderr).toBe(
      "AWS denies this to these credentials: not authorized to perform PutItem. Run it again to write the rest.\n",
    );
  });
});
