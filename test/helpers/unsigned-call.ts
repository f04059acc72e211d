/** Calls the engine, which wants a well-formed signature and does not verify it. */
export function unsignedCall(endpoint: string, target: string, body: string) {
  const headers = {
    authorization:
      "AWS4-HMAC-SHA256 Credential=local/20261121/eu-central-1/dynamodb/aws4_request, " +
      "SignedHeaders=host, Signature=0",
    "x-amz-date": "20261121T120000Z",
    "content-type": "application/x-amz-json-1.0",
    "x-amz-target": target,
  };
  return fetch(endpoint, { method: "POST", headers, body });
}
