import type { APIGatewayProxyEvent, Context } from "aws-lambda";

/** A REST API's proxy event, admitted by the authorizer as `key_1`, with `changes`. */
export function proxyEvent(changes: Partial<APIGatewayProxyEvent>): APIGatewayProxyEvent {
  return {
    resource: "/",
    path: "/",
    httpMethod: "GET",
    headers: {},
    multiValueHeaders: {},
    pathParameters: null,
    queryStringParameters: null,
    multiValueQueryStringParameters: null,
    stageVariables: null,
    body: null,
    isBase64Encoded: false,
    requestContext: {
      accountId: "000000000000",
      apiId: "api",
      authorizer: { principalId: "key_1", keyId: "key_1" },
      httpMethod: "GET",
      identity: {
        accessKey: null,
        accountId: null,
        apiKey: null,
        apiKeyId: null,
        caller: null,
        clientCert: null,
        cognitoAuthenticationProvider: null,
        cognitoAuthenticationType: null,
        cognitoIdentityId: null,
        cognitoIdentityPoolId: null,
        principalOrgId: null,
        sourceIp: "127.0.0.1",
        user: null,
        userAgent: null,
        userArn: null,
      },
      path: "/",
      protocol: "HTTP/1.1",
      requestId: "gateway-request",
      requestTimeEpoch: 0,
      resourceId: "resource",
      resourcePath: "/",
      stage: "v1",
    },
    ...changes,
  };
}

/** The context of an invocation that has plenty of time. */
export function lambdaContext(awsRequestId = "invocation-1"): Context {
  return {
    awsRequestId,
    callbackWaitsForEmptyEventLoop: true,
    functionName: "function",
    functionVersion: "1",
    invokedFunctionArn: "arn:aws:lambda:eu-central-1:000000000000:function:function",
    logGroupName: "log",
    logStreamName: "log",
    memoryLimitInMB: "512",
    getRemainingTimeInMillis: () => 10_000,
    done: () => {},
    fail: () => {},
    succeed: () => {},
  };
}
