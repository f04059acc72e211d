import { beforeAll } from "vitest";

/**
 * Starts something in a hook of the calling file, so that the file's tests fail when it doesn't start,
 * or hangs. Returns what was started, for tests and other hooks.
 *
 * @param start gives `running` what ends it after the tests.
 */
export function beforeTests<Started extends object>(
  start: (running: AsyncDisposableStack) => Promise<Started>,
) {
  let started: Started | undefined;
  beforeAll(async () => {
    await using starting = new AsyncDisposableStack();
    started = await start(starting);
    const running = starting.move();
    return () => running.disposeAsync();
  });
  return new Proxy({} as Started, {
    get(_target, name) {
      if (started === undefined) throw new Error("It starts only before the tests");
      return Reflect.get(started, name);
    },
  });
}
