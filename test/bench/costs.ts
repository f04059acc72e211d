/**
 * Prints what the service costs and how the functions' memory sizes were chosen, from the inputs below. Prices: us-east-1,
 * without free tier, collected on 2026-11-20.
 */

const price = {
  restRequest: 3.5e-6,
  httpRequest: 1e-6,
  lambdaRequest: 0.2e-6,
  /** arm64. */
  gigabyteSecond: 0.0000133334,
  writeUnit: 0.625e-6,
  readUnit: 0.125e-6,
  logGigabyte: 0.5,
  sentGigabyte: 0.09,
  /** Fargate on arm64, an hour. */
  vcpuHour: 0.03238,
  memoryGigabyteHour: 0.00356,
  balancerHour: 0.0225,
};

/** What a request asks of everybody. */
interface Work {
  name: string;
  /** Milliseconds of one whole vCPU: a long list as the bench measures it and half as much again, the others estimates. */
  cpuMs: number;
  /** Milliseconds of waiting for DynamoDB, an assumption: 5 a small call, 10 a page. */
  waitMs: number;
  writeUnits: number;
  readUnits: number;
  sentKilobytes: number;
}

/** Orders of 250 bytes in the table, and on the wire 94 plain or about 12 as gzip. */
const works: Work[] = [
  { name: "a cancellation", cpuMs: 2, waitMs: 5, writeUnits: 1, readUnits: 0, sentKilobytes: 0.3 },
  { name: "a list of 100 orders", cpuMs: 3, waitMs: 10, writeUnits: 0, readUnits: 3.5, sentKilobytes: 2 },
  { name: "a list of 10,000 orders", cpuMs: 60, waitMs: 30, writeUnits: 0, readUnits: 312.5, sentKilobytes: 120 },
];

const logKilobytes = 0.7;
const hoursPerMonth = 730;
/** Lambda gives a whole vCPU at 1,769 MB and shares in proportion. */
const wholeCpuMegabytes = 1769;
const chosen = (work: Work): number => (work.name === "a cancellation" ? 512 : 1024);

function milliseconds({ cpuMs, waitMs }: Work, megabytes: number): number {
  return waitMs + cpuMs / Math.min(1, megabytes / wholeCpuMegabytes);
}

function lambdaCost(work: Work, megabytes: number): number {
  return price.lambdaRequest + (milliseconds(work, megabytes) / 1000) * (megabytes / 1024) * price.gigabyteSecond;
}

/** Dollars for a million of a work, behind a gateway that takes so much a request. */
function million(work: Work, request: number): number {
  const tables = work.writeUnits * price.writeUnit + work.readUnits * price.readUnit;
  const bytes = (work.sentKilobytes / 1e6) * price.sentGigabyte + (logKilobytes / 1e6) * price.logGigabyte;
  return 1e6 * (request + lambdaCost(work, chosen(work)) + tables + bytes);
}

/** Two small tasks and a load balancer, busy or not; tables, logs and bytes come on top. */
const containerMonth =
  hoursPerMonth * (2 * (0.25 * price.vcpuHour + 0.5 * price.memoryGigabyteHour) + price.balancerHour);

const dollars = (value: number): string => `$${value.toFixed(2)}`;
const row = (...cells: string[]): string => `| ${cells.join(" | ")} |`;

const sizes = [256, 512, 1024, wholeCpuMegabytes];
console.log(row("warm time and Lambda's price a million", ...sizes.map((size) => `${size} MB`)));
console.log(row("---", ...sizes.map(() => "---")));
for (const work of works) {
  const cells = sizes.map(
    (size) => `${milliseconds(work, size).toFixed(0)} ms, ${dollars(1e6 * lambdaCost(work, size))}`,
  );
  console.log(row(work.name, ...cells));
}
console.log();
console.log(row("", "this service", "behind an HTTP API", "in two containers, always on"));
console.log(row("---", "---", "---", "---"));
for (const work of works) {
  const containers = million(work, 0) - 1e6 * lambdaCost(work, chosen(work));
  const cells = [million(work, price.restRequest), million(work, price.httpRequest)].map(dollars);
  console.log(row(`a million times ${work.name}`, ...cells, `${dollars(containers)} and the month`));
}
console.log(row("an idle month", dollars(0), dollars(0), dollars(containerMonth)));
