import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Validator } from "@seriousme/openapi-schema-validator";
import { expect, test } from "vitest";
import { errorBody, errors } from "../../shared/errors.ts";
import { document, documentFile, follow, operations, pointerPart } from "../helpers/openapi/document.ts";
import { schemaProblems } from "../helpers/openapi/schemas.ts";

test("is a valid OpenAPI 3.1 document", async () => {
  const validator = new Validator();
  const result = await validator.validate(fileURLToPath(documentFile));
  expect(result).toEqual({ valid: true });
  expect(validator.version).toBe("3.1");
});

test("has nothing to say to the linter under its recommended rules", async () => {
  const redocly = fileURLToPath(import.meta.resolve("@redocly/cli/bin/cli.js"));
  // An empty directory: no configuration of ours softens a rule.
  const cwd = await mkdtemp(join(tmpdir(), "lint-"));
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [redocly, "lint", "--extends=recommended", "--format=json", fileURLToPath(documentFile)],
    { cwd, env: { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" } },
  ).catch((failure: { stdout: string }) => failure);
  await rm(cwd, { recursive: true });
  expect(JSON.parse(stdout)).toMatchObject({ problems: [], totals: { errors: 0, warnings: 0, ignored: 0 } });
});

test("is the contract's interface: version, addresses, operations, authentication, fields", () => {
  expect(document.info.version).toBe("1.0.0");
  for (const { url, variables } of document.servers) {
    const address = url.replaceAll(/\{(\w+)\}/g, (_match, name) => variables[name]?.default ?? "");
    expect(address).toMatch(/^https?:\/\/[^{}]+\/v1$/);
  }
  expect(document.servers.map(({ url }) => url)).toEqual(["{base_url}", "{staging_base_url}", "{local_base_url}"]);
  expect(operations.map(({ name, operation }) => [name, operation.operationId, operation.tags])).toEqual([
    ["GET /store/orders", "listOrders", ["orders"]],
    ["DELETE /store/orders/{orderId}", "cancelOrder", ["orders"]],
  ]);
  expect(document.components.securitySchemes).toEqual({
    bearerAuth: expect.objectContaining({ type: "http", scheme: "bearer" }),
  });
  expect(document.components.schemas.Order).not.toHaveProperty("required");
  expect(Object.keys(document.components.schemas.Order.properties)).toEqual([
    "id",
    "petId",
    "quantity",
    "shipDate",
    "complete",
  ]);
  expect(document.components.schemas.Error.required).toEqual(["code", "message", "status"]);
});

test("names every error code of the catalogue: in its description, its examples and its extension", () => {
  const { code } = document.components.schemas.Error.properties;
  const described = [...code.description.matchAll(/`(\w+)`/g)].map(([, name]) => name);
  const codes = Object.keys(errors);
  expect({ described, ...code }).toMatchObject({ described: codes, examples: codes, "x-extensible-enum": codes });
});

test("leads to a changelog that is there and has this version", async () => {
  const links = [...(await readFile(documentFile, "utf8")).matchAll(/\[changelog\]\((.*?)\)/g)].map(
    ([, link = ""]) => link,
  );
  expect(links.length).toBeGreaterThan(0);
  for (const link of links) {
    expect(await readFile(new URL(link, documentFile), "utf8")).toContain(`\n## ${document.info.version}\n`);
  }
});

test("shows every error of the catalogue, word for word, where its status is answered", () => {
  const examples = Object.values(document.components.responses).flatMap(({ content }) =>
    Object.entries(content?.["application/json"]?.examples ?? {}),
  );
  const catalogue = Object.keys(errors).map((code) => [
    code,
    { value: JSON.parse(errorBody(code as keyof typeof errors)) },
  ]);
  expect(Object.fromEntries(examples)).toEqual(Object.fromEntries(catalogue));
  for (const { operation, pointer } of operations) {
    for (const [status, reference] of Object.entries(operation.responses).filter(([status]) => status >= "400")) {
      const [response] = follow(reference, pointer);
      const values = Object.values(response.content?.["application/json"]?.examples ?? {}).map(({ value }) => value);
      expect(values.length).toBeGreaterThan(0);
      for (const value of values) expect(value).toMatchObject({ status: Number(status) });
    }
  }
});

test("has only examples that its own schemas allow", () => {
  for (const { operation, pointer } of operations) {
    for (const [status, reference] of Object.entries(operation.responses)) {
      const [response, at] = follow(reference, `${pointer}/responses/${status}`);
      for (const [type, { examples = {} }] of Object.entries(response.content ?? {})) {
        for (const [name, { value }] of Object.entries(examples)) {
          expect(schemaProblems(`${at}/content/${pointerPart(type)}/schema`, value, name)).toEqual([]);
        }
      }
    }
  }
});
