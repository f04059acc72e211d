/**
 * Reads an environment variable that the stack or Lambda sets on a function.
 *
 * @throws Error naming the variable when it is missing or empty. At module level, that fails the
 * function's start.
 */
export function environmentVariable(
  name:
    | "ORDERS_TABLE"
    | "API_KEYS_TABLE"
    | "AWS_REGION"
    | "AWS_ACCESS_KEY_ID"
    | "AWS_SECRET_ACCESS_KEY",
): string {
  const value = process.env[name];
  if (!value) throw new Error(`The environment variable ${name} is not set`);
  return value;
}
