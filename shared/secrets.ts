const secrets: [secret: RegExp, replacement: string][] = [
  // An API key, or at least 20 characters of its secret.
  [/([0-9a-z]_)[0-9A-Za-z]{20,}/g, "$1..."],
  // What AWS quotes of a signed request that it rejects.
  [/((?:security-token|credential|signature)["']?\s*[:=]\s*["']?)[^\s,'"&]+/gi, "$1..."],
];

/** The text with every credential cut short, for messages and logs that may quote one. */
export function withoutSecrets(text: string): string {
  return secrets.reduce(
    (safe, [secret, replacement]) => safe.replaceAll(secret, replacement),
    text,
  );
}
