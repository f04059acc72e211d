/** Part of the stack can't be synthesised, or isn't supported here. One line for the person who changed it. */
export class TemplateError extends Error {
  override name = "TemplateError";
}
