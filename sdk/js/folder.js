// A store of receipts in a folder, for Node and Deno: a file for each match, one JSON text a line, and a file for the key of each player.

import { access, appendFile, constants, link, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import process from "node:process";

import { base64, decoded } from "./canonical.js";
import { newKey } from "./signing.js";

const [FIRST, LAST] = ["-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----"];

export class Folder {
  constructor(path) {
    this.path = path;
  }

  /** Return the folder of a server where nobody has named one: below `WARLEDGER_HOME`, or `.warledger` in the home of the user. */
  static async usual(url) {
    const name = url.replace(/^.*?:\/\//, "").replace(/[^A-Za-z0-9.-]+/g, "_");
    const path = join(process.env.WARLEDGER_HOME || join(homedir(), ".warledger"), name);
    await mkdir(path, { recursive: true });
    await access(path, constants.W_OK);
    return new Folder(path);
  }

  where(name) {
    return join(this.path, name);
  }

  async lines(name) {
    return (await text(join(this.path, name))).split("\n").filter(Boolean);
  }

  async append(name, line) {
    await mkdir(this.path, { recursive: true });
    await appendFile(join(this.path, name), `${line}\n`);
  }

  async signingKey(player, revoked = []) {
    const file = join(this.path, `signing-key-${player}.pem`);
    for (;;) {
      const pem = await text(file);
      const key = pem === "" ? null : await keyOf(pem);
      if (key !== null && !revoked.includes(key.publicKey)) return key;
      if (key !== null) await rm(file);
      const made = await newKey(true);
      if (made === null) return null;
      const der = base64(await crypto.subtle.exportKey("pkcs8", made.privateKey));
      await mkdir(this.path, { recursive: true });
      const draft = join(this.path, `signing-key-${player}.${process.pid}`);
      await writeFile(draft, `${FIRST}\n${der}\n${LAST}\n`, { mode: 0o600 });
      await link(draft, file).catch(unless("EEXIST")); // another program may just have made one
      await rm(draft);
    }
  }
}

const unless = (code) => (reason) => {
  if (reason.code !== code) throw reason;
  return "";
};

/** Return the text in a file; none if there is no file. */
const text = (path) => readFile(path, "utf8").catch(unless("ENOENT"));

/** Return the key in a text in PEM: from then on, no program can read it. Throw an error if it is none. */
async function keyOf(pem) {
  const der = decoded(pem.replace(FIRST, "").replace(LAST, "").replace(/\s/g, ""));
  const open = await crypto.subtle.importKey("pkcs8", der, { name: "Ed25519" }, true, ["sign"]);
  const { x } = await crypto.subtle.exportKey("jwk", open);
  const privateKey = await crypto.subtle.importKey("pkcs8", der, { name: "Ed25519" }, false, ["sign"]);
  return { publicKey: `${x.replaceAll("-", "+").replaceAll("_", "/")}=`, privateKey };
}
