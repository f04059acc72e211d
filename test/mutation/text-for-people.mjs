import { declareValuePlugin, PluginKind } from "@stryker-mutator/api/plugin";

const forPeople = new Set(["alarmDescription", "description", "label", "reason"]);

/** Keeps Stryker from mutating texts that no machine reads. */
export const strykerPlugins = [
  declareValuePlugin(PluginKind.Ignore, "text-for-people", {
    shouldIgnore({ node }) {
      const { key } = node.type === "ObjectProperty" ? node : {};
      return key?.type === "Identifier" && forPeople.has(key.name) ? "a text for people" : undefined;
    },
  }),
];
