/** The event of a list, as the gateway hands it to the function. */
export function listEvent(acceptEncoding?: string): unknown {
  return {
    ...requestOf("GET", "/store/orders"),
    headers: acceptEncoding === undefined ? {} : { "Accept-Encoding": acceptEncoding },
  };
}

/** The event of a cancellation. */
export function cancelEvent(orderId: number): unknown {
  return {
    ...requestOf("DELETE", "/store/orders/{orderId}"),
    headers: {},
    pathParameters: { orderId: String(orderId) },
  };
}

/** The event of the authorizer. */
export function authorizeEvent(apiKey: string): unknown {
  const methodArn = "arn:aws:execute-api:us-east-1:000000000000:api/v1/DELETE/store/orders/1";
  return { type: "TOKEN", authorizationToken: `Bearer ${apiKey}`, methodArn };
}

function requestOf(httpMethod: string, resource: string): object {
  return {
    resource,
    httpMethod,
    pathParameters: null,
    requestContext: {
      resourcePath: resource,
      httpMethod,
      stage: "v1",
      authorizer: { principalId: "key_bench", keyId: "key_bench" },
    },
  };
}
