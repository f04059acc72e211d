import { goals } from "./goals.ts";
import type { Growth } from "./list.ts";
import { type Row, ratioRow } from "./row.ts";

/** Lambda streams the first 6 MB of a response as fast as it can, and the rest at 2 MB a second. */
const unhurriedBytes = 6_000_000;
const bytesPerSecond = 2_000_000;

/**
 * A list's time and memory as it grows, as cells, the head first: measured on this machine and, for streaming through
 * Lambda, computed from the measured bytes: the least it can take.
 */
export function growthTable(growth: Map<number, Growth>): string[][] {
  const lines = [...growth].map(([size, { wall, firstByte, peakMemory, plain, gzip }]) => [
    size.toLocaleString("en"),
    `${wall.toFixed(0)} ms`,
    `${firstByte.toFixed(0)} ms`,
    `${peakMemory.toFixed(0)} MB`,
    megabytes(plain),
    seconds(wall, plain),
    megabytes(gzip),
    seconds(wall, gzip),
  ]);
  const heads = ["orders", "whole list", "first byte", "peak memory"];
  return [[...heads, "sent plain", "on AWS at least", "sent as gzip", "on AWS at least"], ...lines];
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

/** Reading goes on while bytes are held back, so the slower of the two counts. */
function seconds(wall: number, bytes: number): string {
  const streaming = Math.max(0, bytes - unhurriedBytes) / bytesPerSecond;
  return `${Math.max(wall / 1000, streaming).toFixed(1)} s`;
}

/**
 * The longest list beside the shortest, which must take hardly more memory, or time to begin.
 *
 * @throws Error when one of them was not measured.
 */
export function growthRows(growth: Map<number, Growth>): Row[] {
  const [small, large] = [growth.get(10_000), growth.get(1_000_000)];
  if (small === undefined || large === undefined)
    throw new Error("Lists of 10,000 and 1,000,000 orders are not measured");
  return [
    ratioRow(
      "list, peak memory, 1,000,000 beside 10,000",
      { ours: large.peakMemory, floor: small.peakMemory, unit: "MB", digits: 0 },
      goals.listMemory,
    ),
    ratioRow(
      "list, first byte, 1,000,000 beside 10,000",
      { ours: large.firstByte, floor: small.firstByte, unit: "ms" },
      goals.listFirstByte,
    ),
  ];
}
