import { expect, test } from "vitest";
import { makeApiKey } from "../../shared/api-keys.ts";
import { withoutSecrets } from "../../shared/secrets.ts";

const key = makeApiKey("acme_eu_2");

test.each([
  [`Bearer ${key}, "${key}x"`, 'Bearer acme_eu_2_..., "acme_eu_2_..."'],
  [key.slice(0, -25), "acme_eu_2_..."],
  // As AWS rejects a signature, whatever the SDK names the error.
  [
    `The Canonical String should have been\nhost:h\nx-amz-security-token:IQoJb3JpZ2luX2VjE/+=\n\nhost`,
    "The Canonical String should have been\nhost:h\nx-amz-security-token:...\n\nhost",
  ],
  [
    "'AWS4 Credential=AKIA/us, SignedHeaders=host, Signature=12ab' is not a key=value pair",
    "'AWS4 Credential=..., SignedHeaders=host, Signature=...' is not a key=value pair",
  ],
  [
    "?X-Amz-Signature=12ab&X-Amz-Security-Token=a%2F&a=1",
    "?X-Amz-Signature=...&X-Amz-Security-Token=...&a=1",
  ],
  [
    `{"x-amz-security-token":"IQ/=", 'Signature': '12ab'}`,
    `{"x-amz-security-token":"...", 'Signature': '...'}`,
  ],
  ["The request signature we calculated: 1", "The request signature we calculated: 1"],
  [
    "key_48bbac3b843721f0 of /var/task/index.mjs",
    "key_48bbac3b843721f0 of /var/task/index.mjs",
  ],
])("the text %j is shown as %j", (text, shown) => {
  expect(withoutSecrets(text)).toBe(shown);
});
