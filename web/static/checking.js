// Checking files of matches in the tab, without the page: what was dropped, and what to say of the answer. verify.mjs does the work.

import { t } from "./language.js";

const SMALL = 2_000_000; // letters of a file that may be something that somebody has kept
const RECEIPT = "warledger.org/receipt/v1\n";

/**
 * Sort what somebody gives: `files` of matches to be checked, and what was kept of matches and logs to compare them with. `others` are files
 * of neither kind, such as a picture: the file of a match begins with an object of JSON. Raise nothing.
 */
export async function sorted(given) {
  const found = { files: [], others: [], keys: [], receipts: [], checkpoints: [], consistency: [] };
  for (const file of given) {
    const text = file.size <= SMALL ? await file.text() : "";
    if (keep(text, found)) continue;
    const begins = (await file.slice(0, 100).text()).trimStart();
    (begins.startsWith("{") ? found.files : found.others).push(file);
  }
  return found;
}

/** Put a small file where it belongs. Return false if it is none of those that are kept. */
function keep(text, found) {
  const note = noted(text);
  if (note.startsWith(RECEIPT)) return found.receipts.push(note);
  if (/^\S+\n\d+\n[A-Za-z0-9+/]{43}=\n/u.test(note)) return found.checkpoints.push(note);
  if (note.startsWith('"')) return keepLines(note, found);
  const keys = text.slice(0, 10_000).trim().split(/\s+/u);
  if (keys.every((key) => /^[^\s+]+\+[0-9a-f]{8}\+[A-Za-z0-9+/]{44}$/u.test(key))) return found.keys.push(...keys);
  const value = parsed(text);
  if (typeof value?.receipt === "string") return found.receipts.push(value.receipt);
  if (Array.isArray(value?.keys) && value.keys.every((key) => typeof key?.vkey === "string"))
    return found.keys.push(...value.keys.map((key) => key.vkey));
  if (Array.isArray(value?.hashes) && "from" in value && "to" in value) return found.consistency.push(value);
  return keepBundle(value, found);
}

/** Put the receipts of a match as programs keep them: a text of JSON in each line. */
function keepLines(text, found) {
  const notes = text.trim().split("\n").map(parsed);
  return notes.every((note) => typeof note === "string" && note.startsWith(RECEIPT)) && found.receipts.push(...notes);
}

/** Put what a page has kept, or the proof that it has saved: lists by their names. */
function keepBundle(value, found) {
  if (value?.finding !== undefined) return false; // what a monitor has found is checked as a file
  const { receipts, checkpoints = [], keys = [], consistency = [] } = value ?? {};
  const texts = [receipts ?? [], checkpoints, keys];
  if (!texts.every((list) => Array.isArray(list) && list.every((text) => typeof text === "string")) || !Array.isArray(consistency)) return false;
  if (receipts === undefined && !checkpoints.length) return false;
  found.receipts.push(...texts[0]);
  found.checkpoints.push(...checkpoints);
  found.keys.push(...keys);
  found.consistency.push(...consistency);
  return true;
}

/** Return a text as a note ends, also where an editor or a clipboard has changed that. */
const noted = (text) => `${text.replaceAll("\r\n", "\n").trim()}\n`;

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Return the match of a file and the name of the server that has signed it, each null where it does not say. */
async function about(file) {
  if (file.match) return file;
  const begins = await file.slice(0, 2_000).text();
  const ends = await file.slice(-2_000).text();
  const match = [begins, ends].map((text) => /"match":"(m[a-z2-7]{16})"/u.exec(text)?.[1]).find(Boolean) ?? null;
  const signer = begins.includes('"line":"dossier"') ? /"name":"([^"]+)"/u.exec(begins) : /"vkeys":\["([^"+]+)\+/u.exec(ends); // of a monitor
  const name = signer?.[1] ?? null;
  return { match, name };
}

/**
 * Add what the browser keeps of the matches of the files, and of the server that has signed them: receipts at the end, and keys. `kept`:
 * {receipts, keys}. `own` of the answer says how many receipts were added, `whose` whether the keys are those that were kept.
 */
export async function withKept(found, kept, readReceipt) {
  const files = await Promise.all(found.files.map(about));
  const matches = new Set(files.map(({ match }) => match));
  const own = kept.receipts.filter((note) => matches.has(readReceipt(note)?.match) && !found.receipts.includes(note));
  const known = files.every(({ name }) => name === null || kept.keys.some((key) => key.startsWith(`${name}+`)));
  const keys = known ? [...new Set([...found.keys, ...kept.keys])] : found.keys;
  // A file of another server is not measured by the keys of this one, nor by receipts that those have signed.
  return { ...found, keys, receipts: known ? [...found.receipts, ...own] : found.receipts, own: known ? own.length : 0 };
}

/** Check what was sorted. The answer is that of verify.mjs. */
export function checked(verify, { files, others, own, ...kept }, progress) {
  return verify(
    files.map((file) => file.stream()),
    { ...kept, progress },
  );
}

const SAYS = {
  agrees: t("{receipt} agrees with the file."),
  differs: t("{receipt} says that it was another entry. So the server has changed its history, or this file is not true."),
  beyond: t("{receipt} is of a version that the file does not have."),
  elsewhere: t("{receipt} is of a match of which no file was given."),
  unsigned: t("{receipt} is not signed by a key that is known."),
  same: t("{receipt} agrees with what this server signs now."),
  changed: t("{receipt} differs from what this server signs now. So it has changed its history."),
  twice: t("{receipt} differs from another receipt of that version. So the server has told two histories."),
  unknown: t("{receipt} is of a version that this server does not show."),
};
const BAD = ["differs", "unsigned", "changed", "twice"];

/**
 * Say in sentences what came of receipts: {text, bad}. `receipts`: their states, as verify.mjs and `alone` give them. The last `own` are
 * those that the browser keeps; where they agree they are counted.
 */
export function receiptsTold(receipts, own = 0) {
  const several = new Set(receipts.map(({ match }) => match)).size > 1;
  const told = ({ match, version, state }) => {
    const which = several ? t("The receipt of version {version} of {match}", { version, match }) : t("The receipt of version {version}", { version });
    return { text: SAYS[state].replace("{receipt}", version === null ? t("A receipt") : which), bad: BAD.includes(state) };
  };
  const given = receipts.slice(0, receipts.length - own);
  const kept = receipts.slice(receipts.length - own);
  const agree = kept.filter(({ state }) => state === "agrees").length;
  const counted = agree ? [{ text: t.n("{count} receipt that this browser keeps agrees with the file.", "{count} receipts that this browser keeps agree with the file.", agree), bad: false }] : [];
  return [...given.map(told), ...counted, ...kept.filter(({ state }) => BAD.includes(state)).map(told)];
}

/**
 * Compare checkpoints without a file with one another. `consistency`: proofs that came with them. Return a sentence that says how two of them
 * contradict each other, or null. `sdk`: evidence.js of sdk/js.
 */
export async function forked(notes, consistency, sdk) {
  const heads = notes.map(sdk.readCheckpoint).filter(Boolean);
  for (const one of heads) {
    for (const other of heads) {
      if (one.origin !== other.origin) continue;
      const proofs = consistency.filter(({ from, to }) => from === one.size && to === other.size);
      if (one.size === other.size && one.root !== other.root) return t("There are two logs {log} of {leaves} leaves. So the server has told two histories.", { log: one.origin, leaves: one.size });
      for (const { hashes } of proofs) {
        if (Array.isArray(hashes) && sdk.canCheck() && !(await sdk.continues(one, other, hashes)))
          return t("The log {log} of {leaves} leaves does not continue that of {before}, by the proof that came with them.", { log: one.origin, leaves: other.size, before: one.size });
      }
    }
  }
  return null;
}

const MOST = 100; // receipts for which the server is asked

/**
 * Hold receipts, without a file, against one another and against what this server signs now. Return the state of each, as `receiptsTold`
 * takes it. `isSigned` says whether a note is signed by a key that is known, `ask` asks the server and throws a Problem.
 */
export async function alone(receipts, readReceipt, isSigned, ask) {
  const said = receipts.map((note) => ({ note, ...readReceipt(note) }));
  const same = (one, other) => one.digest === other.digest && one.at === other.at;
  const state = async (one, place) => {
    if (one.match === undefined || !(await isSigned(one.note))) return "unsigned";
    const twins = said.filter(({ match, version }) => match === one.match && version === one.version);
    for (const twin of twins) if (!same(twin, one) && (await isSigned(twin.note))) return "twice";
    if (place >= MOST) return "unknown";
    try {
      const { receipt } = await (await ask(`/v1/matches/${one.match}/receipts/${one.version}`)).json();
      return same(readReceipt(receipt), one) ? "same" : "changed";
    } catch (problem) {
      if (problem.status >= 400 && problem.status < 429) return "unknown";
      throw problem;
    }
  };
  const states = [];
  for (const [place, one] of said.entries()) {
    states.push({ match: one.match ?? null, version: one.version ?? null, state: await state(one, place) });
  }
  return states;
}

/** Say in a sentence what came of receipts without a file. */
export function aloneTold(states) {
  const bad = states.filter(({ state }) => BAD.includes(state)).length;
  if (bad) return { ok: false, text: t.n("Something is wrong with {count} receipt of {all}.", "Something is wrong with {count} receipts of {all}.", bad, { all: states.length }) };
  const same = states.filter(({ state }) => state === "same").length;
  const text =
    same === states.length
      ? t.n("{count} receipt agrees with what this server signs now. Its file says more: drop that, too.", "{count} receipts agree with what this server signs now. Its file says more: drop that, too.", same)
      : t.n("{count} receipt agrees with what this server signs now; of the others it shows nothing.", "{count} receipts agree with what this server signs now; of the others it shows nothing.", same);
  return { ok: true, text };
}

/** Say in a sentence what came of it. */
export function verdict({ ok, files, findings, checked: done, unchecked }) {
  if (ok) {
    const parts = [
      t.n("{count} entry", "{count} entries", done.entries),
      done.digests && t.n("{count} digest", "{count} digests", done.digests),
      done.rolls && t.n("{count} die", "{count} dice", done.rolls),
      done.signatures && t.n("{count} signature", "{count} signatures", done.signatures),
      done.leaves && t.n("{count} leaf", "{count} leaves", done.leaves),
    ];
    const list = parts.filter(Boolean).join(", ");
    const running = files.filter(({ over }) => !over);
    if (running.length === 0) return t("All that could be checked here holds: {list}.", { list });
    return t("All that could be checked here holds, but {lack}: {list}.", { list, lack: unfinished(running, files.length) });
  }
  const first = findings.find(({ version }) => version !== null) ?? findings[0];
  if (files[first.file].kind === "finding") {
    const { sentence } = first;
    if (first.code === "shows_nothing") return t("The file of a monitor shows nothing: {sentence}", { sentence });
    const owns = unchecked.some((one) => one.includes("file's own keys")) ? ` ${t("That is by the keys in the file: anybody can make such a file with keys of their own.")}` : "";
    return t("The file of a monitor shows: {sentence}", { sentence }) + owns;
  }
  return first.version === null ? (files.length > 1 ? t("Something is wrong in file {file}: {sentence}", place(first)) : t("Something is wrong: {sentence}", first)) : fails(first, files);
}

const place = (finding) => ({ ...finding, file: finding.file + 1 });

/** Say which version fails first, and in which file if there are several. */
const fails = (first, files) =>
  files.length > 1 ? t("Version {version} is the first that fails in file {file}: {sentence}", place(first)) : t("Version {version} is the first that fails: {sentence}", first);

/** Say which files end before their match does. What came afterwards is unknown. */
function unfinished(running, of) {
  if (of === 1) return t("the file ends at version {version}, before the match was over", { version: running[0].versions });
  return t.n("{count} file ends before the match was over", "{count} files end before the match was over", running.length);
}

/** The versions of one match at which something was found, each once, in order. */
export function failing({ files, findings }, match) {
  const versions = findings.filter(({ file, version }) => version !== null && files[file].match === match).map(({ version }) => version);
  return [...new Set(versions)].sort((one, other) => one - other);
}

const RULED = ["not_legal", "not_replayable", "action_differs", "events_differ", "rules_differ"]; // codes of what the rules decide

/**
 * Let a worker decide every action of files again. The answer has the form of that of verify.mjs, with the reports of the rules, one for a file.
 *
 * `address`: of the worker. `told` is called with {entries, of} now and then. Raise an Error with a sentence if that is not possible.
 */
export async function decided(address, files, told, signal) {
  signal.throwIfAborted();
  const worker = new Worker(address, { type: "module" });
  signal.onabort = () => worker.terminate();
  const reports = [];
  try {
    for (const file of files) {
      const bytes = await new Response(file.stream()).arrayBuffer();
      reports.push(await answered(worker, bytes, told));
    }
  } finally {
    worker.terminate();
  }
  return { ...inOne(reports), reports };
}

function answered(worker, bytes, told) {
  return new Promise((resolve, reject) => {
    worker.onerror = () => reject(new Error(t("Python could not be started in this browser.")));
    worker.onmessage = ({ data }) => {
      if (data.report) resolve(data.report);
      else if (data.problem) reject(new Error(data.problem));
      else told(data);
    };
    worker.postMessage(bytes, [bytes]);
  });
}

/** Bring the reports of the rules into the form of an answer of verify.mjs. */
export function inOne(reports) {
  const findings = reports.flatMap((report, file) => report.findings.map(({ version, code, detail }) => ({ file, version, code, sentence: detail })));
  return { ok: !findings.length, files: reports.map(({ match, versions }) => ({ match, versions })), findings };
}

/** Say in a sentence what came of deciding again: the first version that the rules decide otherwise, or that there is none. */
export function ruling({ ok, files, findings, reports }) {
  const replayed = reports.reduce((sum, report) => sum + report.replayed_only, 0);
  const number = files.reduce((sum, file) => sum + file.versions, 0);
  const entries = t.n("{count} entry", "{count} entries", number);
  if (ok && !replayed) return t("The rules decide every action as it stands: {entries}.", { entries });
  if (ok) return t.n("The rules decide no action otherwise: {entries}, of which {count} was only replayed.", "The rules decide no action otherwise: {entries}, of which {count} were only replayed.", replayed, { entries });
  const otherwise = findings.find(({ code }) => RULED.includes(code));
  const first = otherwise ?? findings[0];
  if (!otherwise) return fails(first, files);
  return files.length > 1
    ? t("Version {version} is the first that the rules decide otherwise in file {file}: {sentence}", place(first))
    : t("Version {version} is the first that the rules decide otherwise: {sentence}", first);
}
