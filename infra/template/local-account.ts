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

/** The ARN of a function, without a qualifier. */
export function functionArn(name: string): string {
  return `arn:aws:lambda:${pseudoParameters["AWS::Region"]}:${pseudoParameters["AWS::AccountId"]}:function:${name}`;
}
