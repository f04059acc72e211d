import { spawn } from "node:child_process";
import { once } from "node:events";
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

const lock = async () => onTestFinished(await lockDatabase(file));

test("a database in use can't be locked, nor by a link to it or to its folder", async () => {
  await lock();
  await writeFile(file, "");
  await symlink(folder, join(folder, "linked"));
  await symlink(file, join(folder, "link.db"));
  for (const name of ["orders.db", "linked/orders.db", "link.db"])
    await expect(lockDatabase(join(folder, name))).rejects.toMatchObject({
      name: "CommandError",
      message: `${join(folder, name)} is in use by another stack. Stop that, or choose another file`,
    });
});

test("a database is free again when its stack has ended or been killed", async () => {
  (await lockDatabase(file))();
  const module = new URL(
    "../../../../infra/tools/local/engine/database-lock.ts",
    import.meta.url,
  );
  const code = `import { lockDatabase } from "${module}"; await lockDatabase("${file}");
    console.log("locked"); setInterval(() => {}, 1000);`;
  const other = spawn(process.execPath, ["--input-type=module", "--eval", code]);
  await once(other.stdout, "data");
  await expect(lockDatabase(file)).rejects.toThrow("in use");
  other.kill("SIGKILL");
  await once(other, "exit");
  await lock();
});

test("a database whose lock can't be written is named", async () => {
  await mkdir(`${file}-lock`);
  await expect(lockDatabase(file)).rejects.toThrow(
    `${file}-lock can't be written: unable to open database file`,
  );
});
