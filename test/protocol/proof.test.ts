import { afterAll, describe, expect, test } from "vitest";
import { watched } from "../helpers/watched.ts";
import { type Actor, type Cancel, cancel, cancellers, shipper } from "./actors.ts";
import { fates } from "./fates.ts";
import { Moves } from "./moves.ts";
import { plantedBugs } from "./planted-bugs.ts";
import { allInterleavings, type Proof, prove } from "./proof.ts";
import { RememberedTable } from "./remembered-table.ts";
import { starts } from "./starts.ts";
import { story } from "./story.ts";

const table = await RememberedTable.start();
afterAll(() => table.stop());

describe("npm run prove", () => {
  /** Proves something of one cancellation and a shipment, which are quickly followed. */
  async function proven(proof: Partial<Proof>) {
    const actors = (code: Cancel): Actor[] => [cancellers(code)[0], shipper];
    const small: Proof = { code: cancel, starts: {}, bugs: {}, actors, interleavings: 144_552_370, ...proof };
    const { printed, exitCode } = await watched(() => prove(table, small));
    const text = printed.join("\n");
    const problems = [...text.matchAll(/^PROBLEM: (.*)$/gm)].map(([, problem]) => problem);
    expect(exitCode).toBe(problems.length === 0 ? 0 : 1);
    return { problems, printed: text };
  }
  const leftOut = "144,552,370 interleavings were expected";

  test("looks for ten bugs in all interleavings of five starts", () => {
    expect(allInterleavings).toBe(144_552_370);
    expect([Object.keys(plantedBugs), Object.keys(starts)].map(({ length }) => length)).toEqual([10, 5]);
  });

  test("has a problem with interleavings that are left out or too many", async () => {
    const absent = { starts: { absent: undefined } };
    expect((await proven(absent)).problems).toEqual([leftOut]);
    expect((await proven({ ...absent, interleavings: 984 })).problems).toEqual([]);
    expect((await proven({ ...absent, interleavings: 983 })).problems).toEqual(["983 interleavings were expected"]);
  });

  test("has a problem with code that violates the contract", async () => {
    const { problems, printed } = await proven({
      code: plantedBugs["404 for a throttled write"] ?? cancel,
      starts: { shipped: starts["shipped"] },
    });
    const violation = "A gets 404 order_not_found; by the contract it is 409 order_already_shipped";
    expect(problems).toEqual([`shipped: ${violation}`, leftOut]);
    expect(printed).toContain(`  WRONG: shipped: ${violation}`);
  });

  test("tells a late copy from the attempts that an actor makes", () => {
    const [actor] = cancellers(cancel);
    const moment = new Moves(table, [actor]).start(starts["pending"]);
    const attempts = ["delivered late", "throttled", undefined, "delivered"];
    const path = attempts.map((name) => {
      const fate = fates.find((fate) => fate.name === name);
      return { actor, times: 1, moment, ...(fate && { fate }) };
    });
    expect(story("pending", path).split("\n")).toEqual([
      "  the order is pending",
      "  A, attempt 1: delivered late",
      "  A, attempt 2: throttled",
      "  a late copy from A arrives",
      "  A, attempt 3: delivered",
    ]);
  });

  test("has a problem with a bug that it misses, and tells the story of one that it finds", async () => {
    const bugs = { "no bug at all": cancel, "its own id ignored": plantedBugs["its own id ignored"] ?? cancel };
    const { problems, printed } = await proven({ bugs });
    expect(problems).toEqual([leftOut, "no bug at all: missed"]);
    expect(printed).toMatch(
      /\nno bug at all: MISSED\n\nits own id ignored: found\n {2}the order is pending\n(?: .*\n)+ {2}WRONG: /,
    );
  });
});
