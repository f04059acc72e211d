/**
 * The resource policy of a table of orders: other accounts may let their own services do with it
 * what a writer of orders needs (shared/ORDERS-TABLE.md), and nothing else.
 */
export function writersPolicy(accounts: string[]) {
  const Action = ["dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem"];
  // A policy is about the table that it is attached to; the stack's own table can't name itself in
  // it.
  return {
    Version: "2012-10-17",
    Statement: [{ Effect: "Allow", Principal: { AWS: accounts }, Action, Resource: "*" }],
  };
}
