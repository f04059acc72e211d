import { beforeEach, describe, expect, test } from "vitest";
import { change } from "../../infra/first-hour/stage.ts";
import { tinyServiceForEachTest } from "../helpers/smoke/tiny-service.ts";
import { runCheck, stageOf } from "./stage.ts";

const service = tinyServiceForEachTest();

describe("what a check has changed", () => {
  let seen: string[];
  beforeEach(() => {
    seen = [];
  });
  const step = (text: string) => async () => void seen.push(text);

  test("is put back when the check fails, the last change first", async () => {
    const stage = stageOf(service);
    const check = async () => {
      await change(stage, "the first", step("made 1"), step("undone 1"));
      await change(stage, "the second", step("made 2"), step("undone 2"));
      throw new Error("no such thing");
    };
    expect(await runCheck({ check }, "", stage)).toEqual(["FAIL check: no such thing"]);
    expect(seen).toEqual(["made 1", "made 2", "undone 2", "undone 1"]);
  });

  describe("when it can't be put back,", () => {
    /** Runs a check that may not undo the second of two changes, and another after it. */
    async function runDenied() {
      const stage = stageOf(service);
      const denied = async () => {
        throw new Error("access denied");
      };
      const check = async () => {
        await change(stage, "the first", step("made 1"), step("undone 1"));
        await change(stage, "the second", step("made 2"), denied);
        return "all well";
      };
      return await runCheck({ check, next: async () => "all well" }, "", stage);
    }

    test("is named", async () => {
      expect(await runDenied()).toContain("FAIL could not put back the second: access denied");
    });

    test("keeps no other change from being put back", async () => {
      await runDenied();
      expect(seen).toEqual(["made 1", "made 2", "undone 1"]);
    });

    test("keeps no other check from being run", async () => {
      expect(await runDenied()).toContain("pass next: all well");
    });
  });

  describe("when it is interrupted meanwhile,", () => {
    const interruptedStage = () => {
      const interruption = new AbortController();
      const stage = { ...stageOf(service), interrupted: interruption.signal };
      return { stage, interruption };
    };

    test("is put back once it has been made", async () => {
      const { stage, interruption } = interruptedStage();
      const made = Promise.withResolvers<void>();
      const check = async () => {
        const make = () => made.promise.then(step("made"));
        const making = change(stage, "it", make, step("undone"));
        interruption.abort();
        setImmediate(made.resolve);
        await making;
        return "";
      };
      expect(await runCheck({ check, next: check }, "", stage)).toEqual([
        "FAIL check: interrupted",
      ]);
      expect(seen).toEqual(["made", "undone"]);
    });

    test("is followed by no other change", async () => {
      const { stage, interruption } = interruptedStage();
      interruption.abort();
      await expect(change(stage, "more", step("made"), step("undone"))).rejects.toThrow("abort");
      expect(seen).toEqual([]);
    });
  });
});
