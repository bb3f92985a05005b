import type { Key, Store } from "./warledger.js";

/** A store in a folder, for Node and Deno: a file for each match, `<match>.jsonl`, with one JSON text a line, and those of the keys. */
export class Folder implements Store {
  constructor(path: string);
  /** Return the folder of a server where nobody has named one: below `WARLEDGER_HOME`, or `.warledger` in the home of the user. */
  static usual(url: string): Promise<Folder>;
  readonly path: string;
  lines(name: string): Promise<string[]>;
  append(name: string, line: string): Promise<void>;
  signingKey(player: string, revoked?: readonly string[]): Promise<Key | null>;
  where(name: string): string;
}
