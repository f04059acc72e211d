import { declareValuePlugin, PluginKind } from "@stryker-mutator/api/plugin";

const properties = new Set(["alarmDescription", "description", "label", "reason"]);
/** Commander's methods and classes, by the index of the argument that its help shows. */
const helpArguments = {
  description: 0,
  argument: 1,
  option: 1,
  requiredOption: 1,
  Option: 1,
};

/** Keeps Stryker from mutating texts that only people read. */
export const strykerPlugins = [
  declareValuePlugin(PluginKind.Ignore, "text-for-people", {
    shouldIgnore({ key, node, parent }) {
      const isProperty = node.type === "ObjectProperty" && properties.has(node.key.name);
      const called = parent?.callee?.name ?? parent?.callee?.property?.name;
      const isHelp = node.type === "StringLiteral" && helpArguments[called] === key;
      return isProperty || isHelp ? "a text for people" : undefined;
    },
  }),
];
