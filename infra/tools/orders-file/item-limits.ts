import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import type { OrderItem } from "../../../shared/order.ts";

// DynamoDB's developer guide, "Constraints" and "Item sizes and formats".
const mostBytes = 400 * 1024;
const mostLevels = 32;
const longestName = 65_535;

/** Whether DynamoDB has no room for an item. A number's size is the least that it can be. */
export function isTooLarge(item: OrderItem): boolean {
  return membersSize(item) > mostBytes;
}

function membersSize(members: OrderItem, overhead = 0) {
  const sizes = Object.entries(members).map(
    ([name, attribute]) => Buffer.byteLength(name) + sizeOf(attribute) + overhead,
  );
  return total(sizes);
}

function sizeOf({ S, N, B, SS, NS, BS, L, M, ...rest }: AttributeValue): number {
  if (M) return 3 + membersSize(M, 1);
  if (L) return 3 + total(L.map((element) => 1 + sizeOf(element)));
  if (Object.keys(rest).length > 0) return 1;
  return total([
    ...[S ?? SS ?? []].flat().map((text) => Buffer.byteLength(text)),
    ...[N ?? NS ?? []].flat().map(numberSize),
    ...[B ?? BS ?? []].flat().map((bytes) => bytes.length),
  ]);
}

function numberSize(number: string) {
  const digits = number.replace(/e.*|[-+.]/gi, "").replace(/^0+|0+$/g, "");
  return 1 + Math.ceil(digits.length / 2);
}

function total(numbers: number[]) {
  return numbers.reduce((sum, number) => sum + number, 0);
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
  for (const [name, member] of Object.entries(json)) {
    const bytes = Buffer.byteLength(name);
    if (bytes === 0 || bytes > longestName)
      return "has a name that is not 1 to 65,535 bytes long";
    const excess = excessOf(member, depth - 1);
    if (excess) return excess;
  }
  return undefined;
}
