import { isDateTime } from "../../shared/order.ts";

/**
 * What a text lacks that ISO 8601 allows as a date-time, but RFC 3339, which we read, doesn't;
 * undefined for any other text.
 */
export function dateTimeHint(text: string): string | undefined {
  const withSeconds = text.replace(/(T\d\d:\d\d)(?=$|Z|[+-])/, "$1:00");
  const whole = [withSeconds, `${withSeconds}Z`].find(isDateTime);
  if (whole === undefined || whole === text) return undefined;
  const missing = [
    withSeconds !== text && "seconds",
    whole !== withSeconds && "a time zone",
  ];
  return `lacks ${missing.filter(Boolean).join(" and ")}: write ${whole}`;
}
