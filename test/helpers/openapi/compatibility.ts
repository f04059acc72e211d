/** The parts of an OpenAPI document that clients rely on. */
interface Interface {
  info: { version: string };
  paths: Record<string, Record<string, Operation>>;
}

interface Operation {
  parameters?: { name: string; in: string; required?: boolean; schema: Schema }[];
  requestBody?: { required?: boolean };
  responses: Record<string, Response>;
}

interface Response {
  headers?: Record<string, { required?: boolean; schema: Schema }>;
  content?: Record<string, { schema: Schema; examples?: Record<string, { value: { code?: string } }> }>;
}

interface Schema {
  type: string;
  format?: string;
  const?: string;
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
}

/** A line for everything that clients of the released document can no longer rely on; none in a new major version. */
export function incompatibilities(released: unknown, current: unknown): string[] {
  const [before, after] = [resolved(released, released) as Interface, resolved(current, current) as Interface];
  if (before.info.version.split(".")[0] !== after.info.version.split(".")[0]) return [];
  const [promised, kept] = [facts(before), facts(after)];
  // A new operation may ask for what it likes.
  const ofReleased = (fact: string): boolean => promised.some((operation) => fact.endsWith(` to ${operation}`));
  return [
    ...promised.filter((fact) => !kept.includes(fact)).map((fact) => `no longer: ${fact}`),
    ...kept
      .filter((fact) => fact.startsWith("must send") && ofReleased(fact) && !promised.includes(fact))
      .map((fact) => `new: ${fact}`),
  ];
}

/** A line for everything that clients may rely on. */
function facts({ paths }: Interface): string[] {
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).flatMap(([method, { parameters = [], requestBody, responses }]) => {
      const name = `${method.toUpperCase()} ${path}`;
      return [
        name,
        ...parameters.map(
          (parameter) =>
            `${parameter.required ? "must" : "may"} send ${parameter.in} ${parameter.name}: ${typeOf(parameter.schema)} to ${name}`,
        ),
        ...(requestBody ? [`${requestBody.required ? "must" : "may"} send a body to ${name}`] : []),
        ...Object.entries(responses).flatMap(([status, response]) => responseFacts(`${name} ${status}`, response)),
      ];
    }),
  );
}

function responseFacts(name: string, { headers = {}, content = {} }: Response): string[] {
  const sent = Object.entries(headers).map(
    ([header, { required, schema }]) => `${name} header ${header}: ${typeOf(schema)}${required ? ", always" : ""}`,
  );
  const bodies = Object.entries(content).flatMap(([type, { schema, examples = {} }]) => [
    ...schemaFacts(`${name} ${type} `, schema, true),
    ...Object.values(examples).flatMap(({ value: { code } }) => (code === undefined ? [] : [`${name} code ${code}`])),
  ]);
  return [name, ...sent, ...bodies];
}

function schemaFacts(at: string, schema: Schema, required: boolean): string[] {
  const fields = Object.entries(schema.properties ?? {}).flatMap(([name, field]) =>
    schemaFacts(`${at}.${name}`, field, schema.required?.includes(name) ?? false),
  );
  const items = schema.items ? schemaFacts(`${at}[]`, schema.items, true) : [];
  return [`${at}: ${typeOf(schema)}, ${required ? "required" : "optional"}`, ...fields, ...items];
}

function typeOf({ type, format, const: only }: Schema): string {
  return [type, format, only].filter((part) => part !== undefined).join(" ");
}

/** A part of the document with each reference replaced by its target. */
function resolved(part: unknown, document: unknown): unknown {
  if (Array.isArray(part)) return part.map((element) => resolved(element, document));
  if (typeof part !== "object" || part === null) return part;
  if ("$ref" in part) {
    const names = String(part.$ref).slice(2).split("/");
    const target = names.reduce<unknown>((value, name) => new Map(Object.entries(value ?? {})).get(name), document);
    return resolved(target, document);
  }
  return Object.fromEntries(Object.entries(part).map(([name, inner]) => [name, resolved(inner, document)]));
}
