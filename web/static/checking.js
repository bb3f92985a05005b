// Checking files of matches in the tab, without the page: what was dropped, and what to say of the answer. verify.mjs does the work.

const SMALL = 100_000; // letters of a file that may be something that somebody has kept

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
  if (text.startsWith("warledger.org/receipt/v1\n")) return found.receipts.push(text);
  if (/^\S+\n\d+\n[A-Za-z0-9+/]{43}=\n/u.test(text)) return found.checkpoints.push(text);
  const keys = text.trim().split(/\s+/u);
  if (keys.every((key) => /^[^\s+]+\+[0-9a-f]{8}\+[A-Za-z0-9+/]{44}$/u.test(key))) return found.keys.push(...keys);
  const value = parsed(text);
  if (typeof value?.receipt === "string") return found.receipts.push(value.receipt);
  if (Array.isArray(value?.keys) && value.keys.every((key) => typeof key?.vkey === "string"))
    return found.keys.push(...value.keys.map((key) => key.vkey));
  if (Array.isArray(value?.hashes) && "from" in value && "to" in value) return found.consistency.push(value);
  return false;
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Check what was sorted. The answer is that of verify.mjs. */
export function checked(verify, { files, others, ...kept }, progress) {
  return verify(
    files.map((file) => file.stream()),
    { ...kept, progress },
  );
}

const count = (number, one, many = `${one}s`) => `${number.toLocaleString("en")} ${number === 1 ? one : many}`;

/** Say in a sentence what came of it. */
export function verdict({ ok, files, findings, checked: done }) {
  if (ok) {
    const parts = [
      count(done.digests, "digest"),
      count(done.rolls, "die", "dice"),
      count(done.signatures, "signature"),
      count(done.leaves, "leaf", "leaves"),
    ];
    const running = files.filter(({ over }) => !over);
    const whole = running.length === 0 ? "" : `, but ${unfinished(running, files.length)}`;
    return `All that could be checked here holds${whole}: ${count(done.entries, "entry", "entries")}, ${parts.filter((part) => !part.startsWith("0 ")).join(", ")}.`;
  }
  const first = findings.find(({ version }) => version !== null) ?? findings[0];
  const where = files.length > 1 ? ` in file ${first.file + 1}` : "";
  return first.version === null
    ? `Something is wrong${where}: ${first.sentence}`
    : `Version ${first.version} is the first that fails${where}: ${first.sentence}`;
}

/** Say which files end before their match does. What came afterwards is unknown. */
function unfinished(running, of) {
  if (of === 1) return `the file ends at version ${running[0].versions}, before the match was over`;
  return `${count(running.length, "file ends", "files end")} before the match was over`;
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
    worker.onerror = () => reject(new Error("Python could not be started in this browser."));
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
  const entries = count(files.reduce((sum, file) => sum + file.versions, 0), "entry", "entries");
  if (ok && !replayed) return `The rules decide every action as it stands: ${entries}.`;
  if (ok) return `The rules decide no action otherwise: ${entries}, of which ${count(replayed, "was", "were")} only replayed.`;
  const otherwise = findings.find(({ code }) => RULED.includes(code));
  const first = otherwise ?? findings[0];
  const where = files.length > 1 ? ` in file ${first.file + 1}` : "";
  return `Version ${first.version} is the first that ${otherwise ? "the rules decide otherwise" : "fails"}${where}: ${first.sentence}`;
}
