export interface Goal {
  /** The value to stay at or under; undefined for a figure that is only reported. */
  goal: number | undefined;
  /** By how much noise may carry a figure without pairs over the goal, as a share of the goal. */
  margin: number;
}

/** The bench's goals. They are ratios, but for a bundle's kilobytes and the seconds of a start. */
export const goals = {
  bundle: { goal: 200, margin: 0 },
  coldStart: { goal: 1.2, margin: 0 },
  firstResponse: { goal: 2, margin: 0 },
  firstCancel: { goal: 1.5, margin: 0 },
  warmCancel: { goal: 1.2, margin: 0 },
  warmCancelCpu: { goal: 1.2, margin: 0.1 },
  listTime: { goal: 1.15, margin: 0 },
  listCpu: { goal: 1.2, margin: 0 },
  listMemory: { goal: 1.25, margin: 0.05 },
  listFirstByte: { goal: 1.5, margin: 0.1 },
  start: { goal: 6, margin: 0.1 },
} satisfies Record<string, Goal>;

/** Of a figure that is only reported. */
export const reported: Goal = { goal: undefined, margin: 0 };
