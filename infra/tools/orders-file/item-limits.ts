import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import type { OrderItem } from "../../../shared/order.ts";

// DynamoDB's developer guide, "Constraints" and "Item sizes and formats".
const mostBytes = 400 * 1024;
const mostLevels = 32;
const longestName = 65_535;

/** Whether DynamoDB has no room for an item. A number's size is the least that it can be. */
export function isTooLarge(item: OrderItem): boolean {
  return sizeOfAll(item, 0) > mostBytes;
}

function sizeOfAll(members: OrderItem, overhead = 1) {
  let size = 0;
  for (const [name, member] of Object.entries(members))
    size += overhead + Buffer.byteLength(name) + sizeOf(member);
  return size;
}

function sizeOf({ S, N, B, SS, NS, BS, L, M }: AttributeValue): number {
  if (M) return 3 + sizeOfAll(M);
  if (L) return 3 + sum(L.map((element) => 1 + sizeOf(element)));
  if (N ?? NS) return sum([N ?? NS ?? []].flat().map(numberSize));
  // The others, NULL and BOOL, take a byte.
  return sum([S ?? SS ?? B ?? BS ?? " "].flat().map((value) => Buffer.byteLength(value)));
}

function numberSize(number: string) {
  const digits = number.replace(/e.*|[-+.]/gi, "").replace(/^0+|0+$/g, "");
  return 1 + Math.ceil(digits.length / 2);
}

function sum(numbers: number[]) {
  return numbers.reduce((total, number) => total + number, 0);
}

/**
 * The limit that attributes in DynamoDB's own JSON exceed, for people; undefined for none.
 *
 * @param depth of the JSON, in which each level has an object with the type, and then a value.
 */
export function excessOf(json: unknown, depth = 2 * mostLevels + 1): string | undefined {
  if (typeof json !== "object" || json === null || json instanceof Uint8Array)
    return undefined;
  if (depth === 0) return `has more than ${mostLevels} levels`;
  const excesses = Object.entries(json).map(([name, member]) => {
    const bytes = Buffer.byteLength(name);
    return bytes === 0 || bytes > longestName
      ? "has a name that is not 1 to 65,535 bytes long"
      : excessOf(member, depth - 1);
  });
  return excesses.find(Boolean);
}
