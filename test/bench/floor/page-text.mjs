/**
 * The text of a page of orders by plain concatenation, trusting every value. `separator` precedes
 * its first order.
 */
export function pageText(items, separator) {
  let text = "";
  for (const { id, petId, quantity, shipDate, complete } of items) {
    text += `${separator}{"id":${id.N},"petId":${petId.N},"quantity":${quantity.N},"shipDate":"${shipDate.S}","complete":${complete.BOOL}}`;
    separator = ",";
  }
  return text;
}
