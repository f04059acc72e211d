import { mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A new folder, which disposing of it deletes with all that it holds. */
export function temporaryFolder() {
  return mkdtempDisposable(join(tmpdir(), "pet-store-orders-"));
}
