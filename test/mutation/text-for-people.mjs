import { declareValuePlugin, PluginKind } from "@stryker-mutator/api/plugin";

const properties = new Set(["alarmDescription", "description", "label", "reason"]);
/** The calls of commander whose arguments its help shows, and which argument. */
const help = new Map([
  ["description", 0],
  ["argument", 1],
  ["option", 1],
  ["requiredOption", 1],
  ["Option", 1],
]);

/** Keeps Stryker from mutating texts that no machine reads. */
export const strykerPlugins = [
  declareValuePlugin(PluginKind.Ignore, "text-for-people", {
    shouldIgnore({ key, node, parent }) {
      const called = parent?.callee?.name ?? parent?.callee?.property?.name;
      const forPeople =
        node.type === "ObjectProperty"
          ? node.key.type === "Identifier" && properties.has(node.key.name)
          : node.type === "StringLiteral" && help.get(called) === key;
      return forPeople ? "a text for people" : undefined;
    },
  }),
];
