import { StartError } from "../start-error.ts";

/** An object of a template, read by the kind of value each of its properties must have. */
export class Properties {
  readonly #where: string;
  readonly #values: Map<string, unknown>;
  readonly #resolve: (value: unknown) => unknown;
  readonly #unread: Set<string>;

  /** @param where names the object in messages. @param resolve replaces intrinsic functions in a property's value. */
  constructor(where: string, values: unknown, resolve: (value: unknown) => unknown = (value) => value) {
    if (typeof values !== "object" || values === null || Array.isArray(values)) {
      throw new StartError(`The local stack expects an object in ${where}`);
    }
    this.#where = where;
    this.#values = new Map(Object.entries(values));
    this.#resolve = resolve;
    this.#unread = new Set(this.#values.keys());
  }

  text(name: string, fallback?: string): string {
    return this.#read(name, fallback, (value) => (typeof value === "string" ? value : undefined));
  }

  number(name: string, fallback?: number): number {
    return this.#read(name, fallback, (value) => (typeof value === "number" ? value : undefined));
  }

  /** An object as it is, without its intrinsic functions resolved. */
  record(name: string): Record<string, unknown> {
    this.#unread.delete(name);
    const value = this.#values.get(name) ?? {};
    return Object.fromEntries(new Properties(`${name} of ${this.#where}`, value).#values);
  }

  /** An object of texts. */
  texts(name: string): Record<string, string> {
    const properties = this.nested(name);
    return Object.fromEntries([...properties.#values.keys()].map((key) => [key, properties.text(key)]));
  }

  /** An object with properties of its own; without it, one that has none. */
  nested(name: string, where = `${name} of ${this.#where}`): Properties {
    this.#unread.delete(name);
    return new Properties(where, this.#values.get(name) ?? {}, this.#resolve);
  }

  /** A list of such objects. */
  list(name: string): Properties[] {
    const values = this.#read(name, [], (value) => (Array.isArray(value) ? value : undefined));
    return values.map((value: unknown) => new Properties(`${name} of ${this.#where}`, value));
  }

  /**
   * States that everything that matters has been read.
   *
   * @param meaningless the properties that change nothing on one machine.
   * @throws StartError naming a property that would have been overlooked.
   */
  nothingElse(...meaningless: string[]): void {
    for (const name of meaningless) this.#unread.delete(name);
    for (const name of this.#unread) throw new StartError(`The local stack does not support ${name} of ${this.#where}`);
  }

  #read<T>(name: string, fallback: T | undefined, check: (value: unknown) => T | undefined): T {
    this.#unread.delete(name);
    const value = this.#values.get(name);
    const checked = value === undefined ? fallback : check(this.#resolve(value));
    if (checked === undefined) throw new StartError(`The local stack can't read ${name} of ${this.#where}`);
    return checked;
  }
}
