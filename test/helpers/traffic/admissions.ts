import { expect } from "vitest";
import { errorBody } from "../../../shared/errors.ts";
import { exchange } from "../faults/pipeline.ts";

/** Sends a DELETE of no order with each Authorization header (undefined: none), and resolves with the statuses. */
export async function admissions(
  { baseUrl }: { baseUrl: string },
  authorizations: (string | undefined)[],
): Promise<number[]> {
  const port = Number(new URL(baseUrl).port);
  const statuses: number[] = [];
  for (let start = 0; start < authorizations.length; start += 500) {
    const batch = authorizations.slice(start, start + 500);
    const requests = batch.map((value, index) => {
      const header = value === undefined ? "" : `Authorization: ${value}\r\n`;
      const close = index === batch.length - 1 ? "Connection: close\r\n" : "";
      return `DELETE /v1/store/orders/none HTTP/1.1\r\nHost: localhost\r\n${header}${close}\r\n`;
    });
    const { responses, rest } = await exchange(port, requests.join(""));
    expect(rest).toBe("");
    for (const { status, body } of responses) {
      if (status === 401) expect(body).toBe(errorBody("unauthorized"));
      statuses.push(status);
    }
  }
  expect(statuses).toHaveLength(authorizations.length);
  return statuses;
}
