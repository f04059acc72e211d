/** The most items that DynamoDB reads in one call, or writes in one transaction. */
export const batchSize = 100;

/** Divides items among calls to DynamoDB. */
export async function* batches<Item>(
  items: AsyncIterable<Item> | Iterable<Item>,
  size = batchSize,
) {
  let batch: Item[] = [];
  for await (const item of items) {
    if (batch.push(item) < size) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
