// Every case that `python -m tests.evidence.vectors FOLDER` has written, against verify/verify.mjs: `node tests/verify/every_case.mjs FOLDER`.
// It prints one line for each case that is not as its index says, and ends with 1 if there is one.

import { readFileSync } from "node:fs";

import { verify } from "../../verify/verify.mjs";

const folder = process.argv[2];
const text = (name) => readFileSync(`${folder}/${name}`, "utf8");
const texts = (names) => names.map(text);
const bytes = (name) => new Uint8Array(readFileSync(`${folder}/${name}`));

/** Say what is wrong with the answer to a case, or null. */
function wrong({ expected, verifiers }, { ok, findings }) {
  if (!verifiers.includes("node")) return null;
  const found = findings.map(({ version, code }) => `${version} ${code}`);
  if (expected === null) return ok ? null : found.join(", ");
  const due = `${expected.version} ${expected.code}`;
  const early = findings.filter(({ version }) => version !== null && version < (expected.version ?? 0));
  return found.includes(due) && !early.length ? null : `not ${due}, but ${found.slice(0, 5).join(", ")}`;
}

const index = JSON.parse(text("index.json"));
for (const described of index) {
  const { name, files, keys, receipts, checkpoints, consistency, logs, witnesses, now } = described;
  const result = await verify(
    files.map(bytes),
    { keys, receipts: texts(receipts), checkpoints: texts(checkpoints), consistency: texts(consistency).map(JSON.parse), now: now && Date.parse(now), logs: logs.map(bytes), witnesses },
  );
  const sentence = wrong(described, result);
  if (sentence === null) continue;
  console.log(`${name}: ${sentence}`);
  process.exitCode = 1;
}
console.log(`${index.length} cases`);
