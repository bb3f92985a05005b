// A store of receipts in a folder, for Node and Deno: a file for each match, one JSON text a line.

import { appendFile, mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";

export class Folder {
  constructor(path) {
    this.path = path;
  }

  async lines(name) {
    try {
      return (await readFile(join(this.path, name), "utf8")).split("\n").filter(Boolean);
    } catch (reason) {
      if (reason.code === "ENOENT") return [];
      throw reason;
    }
  }

  async append(name, line) {
    await mkdir(this.path, { recursive: true });
    await appendFile(join(this.path, name), `${line}\n`);
  }
}
