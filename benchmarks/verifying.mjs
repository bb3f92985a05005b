// Verify files over and over for a while: `node benchmarks/verifying.mjs SECONDS FILE...` prints the entries verified a second, and a second of processor time.

import { readFileSync } from "node:fs";

import { verify } from "../verify/verify.mjs";

const [seconds, ...files] = process.argv.slice(2);
const inputs = files.map((file) => new Uint8Array(readFileSync(file)));
for (let time = 0; time < 3; time++) for (const input of inputs) await verify(input);
const began = performance.now();
const used = process.cpuUsage();
let entries = 0;
while (performance.now() - began < 1000 * Number(seconds)) {
  for (const input of inputs) {
    const { ok, checked } = await verify(input);
    if (!ok) throw new Error("something was found");
    entries += checked.digests;
  }
}
const took = performance.now() - began;
const { user, system } = process.cpuUsage(used);
console.log((1000 * entries) / took, (1e6 * entries) / (user + system));
