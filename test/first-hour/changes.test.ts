import { beforeEach, describe, expect, test } from "vitest";
import { change } from "../../infra/first-hour/run-checks.ts";
import { contextOf, runCheck } from "./check-context.ts";

const service = { baseUrl: "", apiKey: "" };

describe("the changes of a check", () => {
  let steps: string[];
  beforeEach(() => {
    steps = [];
  });
  const step = (text: string) => async () => void steps.push(text);

  describe("when the check fails", () => {
    async function runFailing() {
      const context = contextOf(service);
      const check = async () => {
        await change(context, "the first", step("made 1"), step("undone 1"));
        await change(context, "the second", step("made 2"), step("undone 2"));
        throw new Error("no such thing");
      };
      return await runCheck({ check }, "", context);
    }

    test("don't hide its failure", async () => {
      expect(await runFailing()).toEqual(["FAIL check: no such thing"]);
    });

    test("are put back in reverse order", async () => {
      await runFailing();
      expect(steps).toEqual(["made 1", "made 2", "undone 2", "undone 1"]);
    });
  });

  describe("when one can't be put back", () => {
    /** Runs a check that may not undo the second of two changes, and another after it. */
    async function runDenied() {
      const context = contextOf(service);
      const denied = async () => {
        throw new Error("access denied");
      };
      const check = async () => {
        await change(context, "the first", step("made 1"), step("undone 1"));
        await change(context, "the second", step("made 2"), denied);
        return "all well";
      };
      return await runCheck({ check, next: async () => "all well" }, "", context);
    }

    test("are named where that fails", async () => {
      expect(await runDenied()).toContain("FAIL could not put back the second: access denied");
    });

    test("are put back but for that one", async () => {
      await runDenied();
      expect(steps).toEqual(["made 1", "made 2", "undone 1"]);
    });

    test("don't keep the next check from running", async () => {
      expect(await runDenied()).toContain("pass next: all well");
    });
  });

  describe("when the check is interrupted", () => {
    const interruptedContext = () => {
      const interruption = new AbortController();
      const context = { ...contextOf(service), interrupted: interruption.signal };
      return { context, interruption };
    };

    /** Interrupts a check while it makes a change. */
    async function runInterrupted() {
      const { context, interruption } = interruptedContext();
      const made = Promise.withResolvers<void>();
      const check = async () => {
        const make = () => made.promise.then(step("made"));
        const making = change(context, "it", make, step("undone"));
        interruption.abort();
        setImmediate(made.resolve);
        await making;
        return "";
      };
      return await runCheck({ check, next: check }, "", context);
    }

    test("are put back once they have been made", async () => {
      await runInterrupted();
      expect(steps).toEqual(["made", "undone"]);
    });

    test("are followed by no other check", async () => {
      expect(await runInterrupted()).toEqual(["FAIL check: interrupted"]);
    });

    test("are followed by no other change", async () => {
      const { context, interruption } = interruptedContext();
      interruption.abort();
      const more = change(context, "more", step("made"), step("undone"));
      await expect(more).rejects.toThrow("abort");
      expect(steps).toEqual([]);
    });
  });
});
