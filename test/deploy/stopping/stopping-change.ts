import type { Template } from "../../../infra/deploy/template.ts";

/** A change that someone would mind, and the names of what is found. */
export interface StoppingChange {
  title: string;
  change: (next: Template) => unknown;
  names: string[];
}
