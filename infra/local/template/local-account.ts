/** The AWS account and region that the local stack stands in for. */
export const pseudoParameters = {
  "AWS::AccountId": "000000000000",
  "AWS::Partition": "aws",
  "AWS::Region": "us-east-1",
  "AWS::URLSuffix": "amazonaws.com",
} as const;

/**
 * The credentials of every client of a local engine, which may keep separate tables for each key
 * and region.
 */
export const dummyCredentials = { accessKeyId: "local", secretAccessKey: "local" };

/** The ARN of a resource of the account, like `function:ListOrders` of `lambda`. */
export function arnOf(service: string, resource: string): string {
  const { "AWS::Region": region, "AWS::AccountId": account } = pseudoParameters;
  return `arn:aws:${service}:${region}:${account}:${resource}`;
}
