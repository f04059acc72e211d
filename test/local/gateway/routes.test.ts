import { expect, test } from "vitest";
import { matchRoute } from "../../../infra/local/gateway/routes.ts";
import { mock, petsApi, resource, root } from "../pets-template.ts";

const { methods } = petsApi({
  Pets: resource(root, "pets"),
  Pet: resource({ Ref: "Pets" }, "{petId}"),
  Best: resource({ Ref: "Pets" }, "best"),
  Proxy: resource(root, "{proxy+}"),
  Section: resource(root, "{section}"),
  ListPets: mock({ Ref: "Pets" }, "GET", 200),
  AnyPet: mock({ Ref: "Pet" }, "ANY", 202),
  GetPet: mock({ Ref: "Pet" }, "GET", 201),
  BestPet: mock({ Ref: "Best" }, "GET", 203),
  Else: mock({ Ref: "Proxy" }, "ANY", 404),
  PatchElse: mock({ Ref: "Proxy" }, "PATCH", 204),
  PatchSection: mock({ Ref: "Section" }, "PATCH", 205),
});

test.each([
  ["GET", "/pets", "/pets", {}],
  ["GET", "/pets//", "/pets", {}],
  ["GET", "/pets/best", "/pets/best", {}],
  ["GET", "/pets/a%20b%2Fc", "/pets/{petId}", { petId: "a b/c" }],
  // Decoded once.
  ["GET", "/pets/%2531", "/pets/{petId}", { petId: "%31" }],
  // A segment like any other.
  ["GET", "/cats/../pets", "/{proxy+}", { proxy: "cats/../pets" }],
  ["GET", "/Pets", "/{proxy+}", { proxy: "Pets" }],
  ["GET", "/pets/%zz", "/pets/{petId}", { petId: "%zz" }],
  ["PUT", "/pets/best", "/pets/{petId}", { petId: "best" }],
  ["PUT", "/pets", "/{proxy+}", { proxy: "pets" }],
  ["GET", "/pets//1", "/{proxy+}", { proxy: "pets//1" }],
  ["PATCH", "/cats", "/{section}", { section: "cats" }],
])("the route for %s %s is %s", (method, requestPath, path, parameters) => {
  expect(matchRoute(methods, method, requestPath)).toMatchObject({ path, parameters });
});

test("a route for the method itself wins over one for any method", () => {
  expect(matchRoute(methods, "GET", "/pets/1")?.httpMethod).toBe("GET");
});

test("a route for any method serves the methods without a route of their own", () => {
  expect(matchRoute(methods, "PUT", "/pets/1")?.httpMethod).toBe("ANY");
});

test("a greedy parameter does not cover the root", () => {
  expect(matchRoute(methods, "GET", "/")).toBeUndefined();
});
