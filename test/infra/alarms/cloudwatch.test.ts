import { expect, test } from "vitest";
import { isOn } from "./cloudwatch.ts";
import { evaluate } from "./metric-math.ts";

/** Periods as the user guide writes them: a value, or - without data. */
const periods = (text = "") =>
  text.split(" ").map((value) => (value === "-" ? undefined : Number(value)));

const examples = {
  m1: periods("1 1 0 0 -"),
  m2: periods("30 - 0 0 30"),
  m3: periods("0 0 20 - 20"),
  metric1: periods("30 20 0 0"),
  metric2: periods("20 - 20 -"),
};

// The examples of the CloudWatch user guide, "Using metric math", and three on its rules.
test.each([
  "metric1 >= 30 = 1 0 0 0",
  "IF(m1, m2, m3) = 30 0 20 - -",
  "IF(m1, 5, m3) = 5 5 20 - -",
  "IF(m1, m2, 5) = 30 0 5 5 -",
  "metric1 / metric2 = 1.5 - 0 -",
  "FILL(m2, 5) = 30 5 0 0 30",
  "100 * metric1 / FILL(metric2, 10) - 5 = 145 195 -5 -5",
])("the model of CloudWatch calculates %s", (example) => {
  const [expression = "", result] = example.split(" = ");
  expect(evaluate(expression, examples)).toEqual(periods(result));
});

// The tables of the guide's "Evaluating an alarm", in which 1 breaches the threshold.
test.each([
  "3 of 3: 0 - 1 - 1 = false, false",
  "3 of 3: 0 - - - - = false, false",
  "3 of 3: - - - - - = true, false",
  "3 of 3: 0 1 1 - 1 = true, true",
  "3 of 3: - - 1 - - = true, false",
  "2 of 3: 0 - 1 - 1 = true, true",
  "2 of 3: 0 0 1 0 1 = true, true",
  "2 of 3: 0 - 1 - - = true, false",
  "2 of 3: - - - - 0 = true, false",
  "2 of 3: - - - 1 - = true, false",
])("the model of an alarm, with missing data breaching or not, is on: %s", (example) => {
  const [, needed, series, expected] = /(.) of 3: (.*) = (.*)/.exec(example) ?? [];
  const on = ["breaching", "notBreaching"].map((treatMissingData) => {
    const alarm = { evaluationPeriods: 3, datapointsToAlarm: Number(needed) };
    return isOn(periods(series), 1, { ...alarm, treatMissingData });
  });
  expect(on.join(", ")).toBe(expected);
});
