import { Help, type Option } from "commander";

const help = new Help();

/** The description of an option in a command's help, which by itself doesn't say "(required)". */
export function optionDescription(option: Option): string {
  const description = help.optionDescription(option);
  return option.mandatory ? `${description} (required)` : description;
}
