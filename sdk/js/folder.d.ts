import type { Store } from "./warledger.js";

/** A store in a folder, for Node and Deno: a file for each match, `<match>.jsonl`, with one JSON text a line, and the keys of the server. */
export class Folder implements Store {
  constructor(path: string);
  readonly path: string;
  lines(name: string): Promise<string[]>;
  append(name: string, line: string): Promise<void>;
}
