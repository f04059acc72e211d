export const handler = async ({ methodArn }) => ({
  principalId: "floor",
  policyDocument: {
    Version: "2012-10-17",
    Statement: [{ Effect: "Allow", Action: "execute-api:Invoke", Resource: `${methodArn.split("/", 2).join("/")}/*` }],
  },
  context: { keyId: "floor" },
});
