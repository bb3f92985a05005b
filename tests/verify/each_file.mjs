// What verify/verify.mjs finds in each file of a folder by itself, a line of JSON for each: `node tests/verify/each_file.mjs FOLDER`.

import { readFileSync, readdirSync } from "node:fs";

import { verify } from "../../verify/verify.mjs";

const folder = process.argv[2];
for (const name of readdirSync(folder).sort()) {
  const { findings } = await verify(new Uint8Array(readFileSync(`${folder}/${name}`)));
  console.log(JSON.stringify([name, findings.map(({ version, code }) => [version, code])]));
}
