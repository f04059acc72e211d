import { declareValuePlugin, PluginKind } from "@stryker-mutator/api/plugin";

const properties = new Set(["alarmDescription", "description", "label", "reason"]);
/** Commander's methods and classes, by the index of the argument that its help shows. */
const helpArguments = new Map([
  ["description", 0],
  ["argument", 1],
  ["option", 1],
  ["requiredOption", 1],
  ["Option", 1],
]);

/** Keeps Stryker from mutating texts that only people read. */
export const strykerPlugins = [
  declareValuePlugin(PluginKind.Ignore, "text-for-people", {
    shouldIgnore({ key, node, parent }) {
      return isProperty(node) || isHelp(node, key, parent) ? "a text for people" : undefined;
    },
  }),
];

function isProperty(node) {
  return (
    node.type === "ObjectProperty" &&
    node.key.type === "Identifier" &&
    properties.has(node.key.name)
  );
}

/** @param index the node's among the arguments of a call. */
function isHelp(node, index, call) {
  const called = call?.callee?.name ?? call?.callee?.property?.name;
  return node.type === "StringLiteral" && helpArguments.get(called) === index;
}
