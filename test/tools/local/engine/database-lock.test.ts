import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { lockDatabase } from "../../../../infra/tools/local/engine/database-lock.ts";
import { temporaryFolder } from "../../../helpers/temporary-folder.ts";

let folder: string;
let file: string;
beforeEach(async () => {
  const { path, remove } = await temporaryFolder();
  folder = path;
  file = join(folder, "orders.db");
  return remove;
});

test("a database in use can't be locked until it is released, nor by a link to it or to its folder", async () => {
  (await lockDatabase(file))();
  onTestFinished(await lockDatabase(file));
  await writeFile(file, "");
  await symlink(folder, join(folder, "linked"));
  await symlink(file, join(folder, "link.db"));
  for (const name of ["orders.db", "linked/orders.db", "link.db"])
    await expect(lockDatabase(join(folder, name))).rejects.toMatchObject({
      name: "CommandError",
      message: `${join(folder, name)} is in use by another stack. Stop that, or choose another file`,
    });
});

test("a database whose lock can't be written is named", async () => {
  await mkdir(`${file}-lock`);
  await expect(lockDatabase(file)).rejects.toThrow(
    `${file}-lock can't be written: unable to open database file`,
  );
});
