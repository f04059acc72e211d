/** The environment of every test. An imported handler calls the endpoint: nothing listens. */
export const testEnvironment = {
  ORDERS_TABLE: "orders",
  API_KEYS_TABLE: "api-keys",
  AWS_REGION: "eu-central-1",
  AWS_ACCESS_KEY_ID: "test",
  AWS_SECRET_ACCESS_KEY: "test",
  AWS_ENDPOINT_URL_DYNAMODB: "http://127.0.0.1:9",
};
