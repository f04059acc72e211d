/** What of the stack can't be synthesised or isn't understood here, in one line for the person who changed it. */
export class TemplateError extends Error {
  override name = "TemplateError";
}
