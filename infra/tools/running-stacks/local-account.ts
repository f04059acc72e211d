/** The AWS region and account that the local stack stands in for. */
export const region = "us-east-1";
const account = "000000000000";

/** By the names that templates refer to. */
export const pseudoParameters: Record<string, string> = {
  "AWS::AccountId": account,
  "AWS::Partition": "aws",
  "AWS::Region": region,
  "AWS::URLSuffix": "amazonaws.com",
};

/**
 * The credentials of every client of a local engine, which may keep separate tables for each key
 * and region.
 */
export const dummyCredentials = { accessKeyId: "local", secretAccessKey: "local" };

/** The ARN of a resource of the account, like `function:ListOrders` of `lambda`. */
export function arnOf(service: string, resource: string): string {
  return `arn:aws:${service}:${region}:${account}:${resource}`;
}
