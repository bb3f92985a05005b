// verify/verify.mjs on whole files: honest ones hold, each kind of tampering is found at its version, and no byte crashes it.

import assert from "node:assert/strict";
import { test } from "node:test";

import { continues, provenRoot, sha256, verify } from "../../verify/verify.mjs";
import {
  HOUR,
  MATCH,
  SECRET,
  SERVER,
  START,
  chained,
  checkpoint,
  consistency,
  faces,
  file,
  inclusion,
  json,
  keyOf,
  leavesOf,
  lines,
  logOf,
  match,
  note,
  proof,
  receipt,
  record,
  recordInOne,
  running,
  saltOf,
  signedBy,
  blindOf,
  tree,
} from "./making.mjs";

const KEYS = { keys: [SERVER.vkey] };
const ENTRIES = match(),
  RUNNING = match({ over: false });
const found = ({ findings }) => findings.map(({ version, code }) => [version, code]);

const HONEST = {
  "a whole dossier": file(lines(ENTRIES)),
  "a whole dossier of a match that runs": file(lines(RUNNING)),
  "the dossier of a seat": file(lines(RUNNING, { viewer: "red" })),
  "the dossier of a spectator when the match is over": file(lines(ENTRIES, { viewer: "spectator" })),
  "a record": record(ENTRIES, blindOf(SECRET).toString("hex")),
  "a record without the blind key": record(ENTRIES),
  "a record of a match that runs": record(RUNNING, blindOf(SECRET).toString("hex")),
  "a record in one JSON object": recordInOne(ENTRIES, blindOf(SECRET).toString("hex")),
  "a record in one JSON object without the blind key, on a line that ends": Buffer.concat([recordInOne(ENTRIES), Buffer.from("\n")]),
};

for (const [name, bytes] of Object.entries(HONEST)) {
  test(`nothing is found in ${name}`, async () => {
    const result = await verify(bytes, KEYS);
    assert.deepEqual(found(result), []);
    assert.equal(result.checked.entries, name.includes("runs") || name.includes("of a seat") ? 6 : 7);
    assert.ok(result.unchecked.some((sentence) => sentence.startsWith("The rules")));
  });
}

test("everything that a whole dossier holds was checked", async () => {
  const { checked, unchecked, files } = await verify(HONEST["a whole dossier"], KEYS);
  assert.deepEqual(checked, { entries: 7, digests: 7, salts: 0, rolls: 6, moves: 1, signatures: 7, receipts: 1, reads: 1, leaves: 3, "running hashes": 0, logs: 0 });
  assert.deepEqual(
    unchecked.map((sentence) => sentence.split(":")[0]),
    [
      "Whether a seat that acts at the same time as another had its clock running then",
      "The first 2 refused actions of red",
      "The first 2 reads of staff",
      "The rules",
    ],
  );
  assert.deepEqual(
    files.map(({ match: id, viewer, versions }) => [id, viewer, versions]),
    [[MATCH, "all", 7]],
  );
});

test("a file may come in pieces of any size", async () => {
  for (const bytes of [HONEST["a whole dossier"], HONEST["a record in one JSON object"]]) {
    for (const size of [1, 7, 100, 5000]) {
      const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, place) => bytes.subarray(place * size, (place + 1) * size));
      const stream = new ReadableStream({ start: (stream) => (pieces.forEach((piece) => stream.enqueue(piece)), stream.close()) });
      const { ok, checked } = await verify(stream, KEYS);
      assert.ok(ok && checked.entries === 7);
    }
  }
});

test("a record is the same as lines and in one JSON object, whatever was done to it", async () => {
  const key = blindOf(SECRET).toString("hex");
  const moved = ENTRIES.map((entry) => (entry.version === 6 ? { ...entry, at: entry.at + 1 } : entry));
  const more = ENTRIES.map((entry) => (entry.version === 5 ? { ...entry, more: 1 } : entry));
  const many = [moved, more, ENTRIES.slice(1), ENTRIES.slice(0, 4), ENTRIES.toReversed(), [...ENTRIES, null], [1, {}, []], []];
  for (const entries of many)
    for (const blind of [key, null, "00".repeat(32)])
      assert.deepEqual(await verify(recordInOne(entries, blind)), await verify(record(entries, blind)));
  assert.deepEqual(found(await verify(recordInOne(moved, key))), [[6, "digest_broken"]]);
});

test("without a key that was noted, the answer says so", async () => {
  const { ok, unchecked } = await verify(HONEST["a whole dossier"]);
  assert.ok(ok && unchecked.some((sentence) => sentence.startsWith("Whose keys")));
});

// Ways to change a file. An owner signs anew what he has changed; a stranger cannot.

const changed = (place, change) => (made) =>
  made.map((line, at) => (at === place || line.line === place ? change(structuredClone(line)) : line));
const entryOf = (version, change) => (made) =>
  made.map((line) => {
    if (line.entry?.version !== version) return line;
    const entry = structuredClone(line.entry);
    return { ...line, entry: change(entry) ?? entry };
  });
const without =
  (...names) =>
  (made) =>
    made.filter(({ line, entry }) => !names.includes(line) && !(entry && names.includes(entry.version)));
const anew =
  (change, options = {}) =>
  () =>
    file(lines(options.entries ?? ENTRIES, { ...options, change }), options);
const owner =
  (change, options = {}) =>
  () =>
    file(lines(chained(change(structuredClone(ENTRIES).map(({ digest, version, ...entry }) => entry))), options));
const knowing =
  (change = () => {}) =>
  () => {
    const entries = structuredClone(ENTRIES).map(({ digest, version, ...entry }) => entry);
    change(Object.assign(entries[0].events[0], { dice: "0a".repeat(32), practice: true }));
    return record(chained(entries), blindOf(SECRET).toString("hex"));
  };
const text = (from, to) => () => file(lines(ENTRIES), { text: (given) => given.replace(from, to) });
const stranger = (from, to) => () => Buffer.from(HONEST["a whole dossier"].toString().replace(from, to));
const dropped = (count) => () =>
  Buffer.from(
    HONEST["a whole dossier"]
      .toString()
      .split("\n")
      .slice(0, -count)
      .map((line) => `${line}\n`)
      .join(""),
  );
const SEAT = { viewer: "red", entries: RUNNING },
  SPECTATOR = { viewer: "spectator" };
const another = keyOf("warledger-ffffffffff", 2),
  thief = keyOf(SERVER.name, 3);
const log = logOf(leavesOf(ENTRIES)),
  forked = [...log.slice(0, 4), "{}", ...log.slice(5)];
const relogged = (change) => anew((made) => made.map((line) => (line.line === "leaf" ? change(structuredClone(line)) : line)));
const leafOf = (version, change) =>
  relogged((line) => {
    if (line.leaf.version !== version) return line;
    change(line.leaf);
    const leaves = [...log.slice(0, line.index), json(line.leaf), ...log.slice(line.index + 1)];
    return { ...line, proof: proof(SERVER, leaves, line.index) };
  });
const swapped = (list, one, other) => list.map((item, at) => (at === one ? list[other] : at === other ? list[one] : item));

const TAMPERED = [
  ["a byte of a line changed", stranger("bad_action", "bad_actiom"), null, "signature_broken"],
  ["an action changed", anew(entryOf(4, (entry) => void (entry.action.tile = "c5"))), 4, "digest_broken"],
  ["an event changed", anew(entryOf(6, (entry) => void (entry.events[0].to.d4 = 2))), 6, "digest_broken"],
  ["an event added", anew(entryOf(6, (entry) => void entry.events.push({ type: "more" }))), 6, "digest_broken"],
  ["a time changed", anew(entryOf(6, (entry) => void entry.at++)), 6, "digest_broken"],
  ["an actor changed", anew(entryOf(6, (entry) => void (entry.actor = "blue"))), 6, "digest_broken"],
  ["a request changed", anew(entryOf(4, (entry) => void (entry.request.id = "a2"))), 4, "digest_broken"],
  ["the rules of an entry changed", anew(entryOf(6, (entry) => void (entry.rules = "0".repeat(32)))), 6, "digest_broken"],
  ["a digest changed", anew(entryOf(6, (entry) => void (entry.digest = "0".repeat(64)))), 6, "digest_broken"],
  ["an entry dropped", anew(without(5)), 5, "gap"],
  ["an entry doubled", anew((made) => made.flatMap((line) => (line.entry?.version === 5 ? [line, line] : [line]))), 6, "wrong_version"],
  [
    "two entries swapped",
    anew((made) =>
      swapped(
        made,
        made.findIndex(({ entry }) => entry?.version === 5),
        made.findIndex(({ entry }) => entry?.version === 6),
      ),
    ),
    5,
    "gap",
  ],
  ["an entry of another match", anew(entryOf(5, (entry) => void (entry.match = "mzzzzzzzzzzzzzzzz"))), 5, "wrong_match"],
  ["white space in an entry", text('"version":5}', '"version": 5}'), 5, "not_canonical"],
  [
    "members in another order",
    text(
      '"entry":{"action":{"tile":"c4","type":"attack"},"actor":"blue"',
      '"entry":{"actor":"blue","action":{"tile":"c4","type":"attack"}',
    ),
    5,
    "not_canonical",
  ],
  ["a number written otherwise", text('"version":5}', '"version":5.0}'), 5, "not_canonical"],
  ["a letter escaped without need", text('"type":"move"', '"type":"mov\\u0065"'), 6, "not_canonical"],
  ["a member that no entry has", anew(entryOf(6, (entry) => void (entry.note = 1))), 6, "not_canonical"],
  ["a member twice", text('"version":6}', '"version":6,"version":6}'), 6, "not_canonical"],
  ["an entry without its actor", anew(entryOf(6, (entry) => void delete entry.actor)), 6, "unreadable"],
  ["a line that is none", text('{"count":2', '{"counts":2'), null, "line_unknown"],
  ["a line in white space", text('{"count":2', '{"count": 2'), null, "line_unknown"],
  ["the last line gone", dropped(2), null, "truncated"],
  ["the file cut in its entries", dropped(14), 5, "truncated"],
  ["the last line feed gone", () => HONEST["a whole dossier"].subarray(0, -1), null, "truncated"],
  ["more entries than it says", anew(changed(0, (line) => ({ ...line, versions: 6 }))), 7, "wrong_version"],
  [
    "a hidden part opened to another value",
    anew(
      entryOf(3, (entry) => {
        entry.events = [{ type: "deck_built", deck: ["a"] }];
        entry.proof.events = [{ salt: saltOf(blindOf(SECRET), 3, 0).toString("hex") }];
      }),
      SEAT,
    ),
    3,
    "digest_broken",
  ],
  [
    "a part shown otherwise",
    anew(
      entryOf(6, (entry) => void (entry.events[0].to.d4 = 2)),
      SEAT,
    ),
    6,
    "digest_broken",
  ],
  [
    "a salt exchanged",
    anew(
      entryOf(6, (entry) => void (entry.proof.action.salt = "0".repeat(64))),
      SPECTATOR,
    ),
    6,
    "salt_differs",
  ],
  [
    "a leaf in place of a salt",
    anew(
      entryOf(6, (entry) => void (entry.proof.action = { leaf: "0".repeat(64) })),
      SEAT,
    ),
    6,
    "digest_broken",
  ],
  ["another blind key", anew(changed(0, (line) => ({ ...line, blind: "0".repeat(64) }))), null, "salt_differs"],
  ["another secret in the first line", anew(changed(0, (line) => ({ ...line, secret: "0".repeat(64) }))), 7, "secret_differs"],
  ["signed by another server", anew((made) => made, { key: another }), null, "wrong_key"],
  ["signed by another key of the same name", anew((made) => made, { key: thief }), null, "wrong_key"],
  [
    "a signature that does not fit",
    stranger(/1\\n\\n— .{40}/u, (match) => `${match.slice(0, -1)}${match.endsWith("A") ? "B" : "A"}`),
    null,
    "signature_broken",
  ],
  [
    "signed for another viewer",
    () => {
      const made = lines(ENTRIES),
        body = made.map((line) => `${json(line)}\n`).join("");
      const digest = Buffer.from(sha256(Buffer.from(body))).toString("hex");
      return Buffer.from(
        `${body}${json({ line: "end", lines: made.length, note: note(SERVER, "warledger.org/dossier/v1", MATCH, 7, "red", digest) })}\n`,
      );
    },
    null,
    "signature_broken",
  ],
  ["a seat given to another", anew(changed("seat", (line) => ({ ...line, player: "pzzzzzzzzzzzzzzzz" }))), 1, "seat_differs"],
  ["the seats dropped", anew(without("seat")), 1, "seat_differs"],
  ["the rules dropped", anew(without("rules")), 1, "rules_unknown"],
  [
    "rules that no entry names",
    anew((made) => [...made, { line: "rules", game: "war", revision: 1, rules: "0".repeat(32) }]),
    null,
    "rules_unknown",
  ],
  [
    "a dispute that was none",
    anew((made) => [
      ...made,
      { line: "dispute", number: 1, seat: "red", version: 3, steps: [{ version: 5, type: "dispute" }], verdict: null },
    ]),
    5,
    "dispute_differs",
  ],
  [
    "a read of another match",
    anew((made) => [
      ...made,
      { line: "read", note: note(SERVER, "warledger.org/read/v1", "mzzzzzzzzzzzzzzzz", 4, "admin", "record", 1), count: 1 },
    ]),
    4,
    "read_broken",
  ],
  ["reads of another number", anew(changed("reads", (line) => ({ ...line, count: 1 }))), null, "reads_differ"],
  ["a list of reads with one of another moment", anew(changed("reads", (line) => ({ ...line, count: 0, newest: Array(3).fill({ ...line.newest[0], at: 1 }) }))), 4, "reads_differ"],
  ["two lists of reads", anew((made) => [...made, made.find(({ line }) => line === "reads")]), null, "reads_differ"],
  ["a seat whose refused actions are counted twice", anew((made) => [...made, made.find(({ line }) => line === "refusals_dropped")]), null, "refusals_differ"],
  ["a read that did not happen", anew(changed("read", (line) => ({ ...line, count: 0 }))), 4, "read_broken"],
  ["no receipt", anew(without("receipt")), 7, "receipt_differs"],
  [
    "a receipt of another digest",
    anew(changed("receipt", (line) => ({ ...line, note: receipt(SERVER, { ...ENTRIES[6], digest: "0".repeat(64) }) }))),
    7,
    "receipt_differs",
  ],
  [
    "a receipt of another time",
    anew(changed("receipt", (line) => ({ ...line, note: receipt(SERVER, { ...ENTRIES[6], at: 1 }) }))),
    7,
    "receipt_differs",
  ],
  [
    "no leaf of the end",
    () => file(lines(match(), { change: (made) => made.filter(({ leaf }) => !["end", "hour"].includes(leaf?.kind)) })),
    7,
    "leaf_missing",
  ],
  ["a leaf of another digest", leafOf(5, (leaf) => void (leaf.digest = "0".repeat(64))), 5, "leaf_differs"],
  ["a leaf of another commitment", leafOf(1, (leaf) => void (leaf.commitment = "0".repeat(64))), 1, "leaf_differs"],
  ["a leaf of a later version", leafOf(7, (leaf) => void (leaf.version = 9)), 8, "truncated"],
  ["no line of the key that signed", anew(without("signing_key")), 6, "key_missing"],
  ["the key of another player", anew(changed("signing_key", (line) => ({ ...line, player: "pbbbbbbbbbbbbbbbb" }))), 6, "key_missing"],
  ["a key without a leaf", anew(changed("signing_key", (line) => ({ ...line, leaves: [] }))), 6, "key_missing"],
  ["a running dossier without the blind key", anew(changed(0, (line) => ({ ...line, blind: null })), { entries: RUNNING }), null, "salt_differs"],
  ["a running record without the blind key", () => record(RUNNING), null, "salt_differs"],
  ["another game in the first line", anew(changed(0, (line) => ({ ...line, game: "chess" }))), null, "line_unknown"],
  ["a leaf at another place", relogged((line) => ({ ...line, index: line.index + 1 })), 1, "inclusion_broken"],
  ["a proof of another leaf", relogged((line) => ({ ...line, proof: proof(SERVER, log, 0), index: 0 })), 1, "inclusion_broken"],
  ["a checkpoint by another key", relogged((line) => ({ ...line, proof: proof(thief, log, line.index) })), 1, "wrong_key"],
  [
    "a log that forks within the file",
    relogged((line) => (line.index === 3 ? { ...line, proof: proof(SERVER, forked, 3) } : line)),
    null,
    "checkpoint_forked",
  ],
  [
    "other dice, signed anew",
    () => file(lines(match({ dice: { 5: faces(SECRET, {}, MATCH, 5, 2).map((face) => 7 - face) } }))),
    5,
    "events_differ",
  ],
  ["dice that are known before others take a seat, signed anew", knowing(), 1, "not_legal"],
  ["known dice and a seat that is taken, signed anew", knowing((created) => void (created.roster.blue = { ai: "novice" })), 2, "not_legal"],
  ["known dice that are no key, signed anew", knowing((created) => void Object.assign(created, { dice: "0a", roster: {} })), 1, "not_legal"],
  [
    "an earlier time, signed anew",
    owner((entries) => entries.map((entry, at) => (at === 6 ? { ...entry, at: START } : entry))),
    7,
    "time_backwards",
  ],
  [
    "another revision of the rules, signed anew",
    owner((entries) => entries.map((entry, at) => (at === 6 ? { ...entry, revision: 1 } : entry))),
    7,
    "rules_differ",
  ],
  [
    "a request twice, signed anew",
    owner((entries) => entries.map((entry, at) => (at === 5 ? { ...entry, request: { id: "a1", fingerprint: "0f" } } : entry))),
    6,
    "request_twice",
  ],
  [
    "another secret, signed anew",
    () => {
      const other = "ff".repeat(32),
        entries = structuredClone(ENTRIES).map(({ digest, version, ...entry }) => entry);
      entries[6].secret = other;
      return file(lines(chained(entries, other), { secret: other }));
    },
    1,
    "commitment_broken",
  ],
  [
    "the secret revealed too early",
    owner((entries) => entries.map((entry, at) => (at === 5 ? { ...entry, secret: SECRET } : entry))),
    6,
    "secret_differs",
  ],
  ["a record whose end was cut", () => record(ENTRIES.slice(0, 4), "00".repeat(32)), 1, "digest_broken"],
  ["a record in one JSON object whose end was cut", () => recordInOne(ENTRIES).subarray(0, -1), 1, "unreadable"],
  ["an empty file", () => Buffer.from(""), null, "empty"],
];

for (const [name, make, version, code] of TAMPERED) {
  test(`found: ${name}`, async () => {
    const all = found(await verify(make(), KEYS));
    assert.ok(
      all.some(([at, what]) => at === version && what === code),
      JSON.stringify(all),
    );
    // A finding without a version may stand beside it; no version before it is blamed.
    assert.ok(version === null || all.every(([at]) => at === null || at >= Math.min(version, ENTRIES.length)), JSON.stringify(all));
  });
}

test("a moment that is too late breaks one digest, and blames no entry after it", async () => {
  const later = anew(entryOf(4, (entry) => void (entry.at += 9 * HOUR)))();
  assert.deepEqual(found(await verify(later, KEYS)), [[4, "digest_broken"]]);
});

test("a file is not written before its entries", async () => {
  const early = file(lines(ENTRIES, { wait: -1 }));
  assert.deepEqual(found(await verify(early, KEYS)), [[ENTRIES.length, "time_backwards"]]);
});

// What only somebody notices who has kept something.

const rewritten = (from = 6) => {
  const bare = structuredClone(ENTRIES).map(({ digest, version, ...entry }) => entry);
  bare[from - 1].action = { type: "move", to: { e4: 1 } };
  return chained(bare);
};

const unsigned = (entries) => chained(entries.map(({ digest, version, signed, ...entry }) => entry));

test("signatures of moves are checked with the history that they are over, and lists are whole", async () => {
  const changed = async (change) => {
    const bare = structuredClone(ENTRIES).map(({ digest, version, ...entry }) => entry);
    change(bare, (place, ...more) => signedBy(bare[place], place, ENTRIES[place - 1].digest, ...more));
    return found(await verify(record(chained(bare))));
  };
  const list = (places) => (bare, sign) => {
    bare[4] = { ...bare[5], at: bare[4].at, signed: true };
    const first = chained(bare)[3].digest;
    places.forEach(([place, count], at) => (bare[4 + at].signed = signedBy(bare[4 + at], 4, first, place, count)));
  };
  assert.deepEqual(await changed(() => {}), []);
  assert.deepEqual(await changed((bare) => (bare[5].signed.seen = 4)), [[6, "move_signature_broken"]]);
  assert.deepEqual(await changed((bare) => (bare[5].signed.seen = 6)), [[6, "seen_not_before"]]);
  assert.deepEqual(await changed((bare) => (bare[5].actor = "blue")), [[6, "move_signature_broken"]]);
  assert.deepEqual(await changed((bare) => (bare[5].signed.key = bare[5].signed.key.toUpperCase())), [[6, "move_signature_broken"]]);
  assert.deepEqual(await changed((bare) => (bare[5].signed.signature += "=")), [[6, "unreadable"]]);
  assert.deepEqual(await changed(list([[1, 2], [2, 2]])), []);
  assert.deepEqual(await changed(list([[1, 2], [1, 2]])), [[5, "move_list_broken"], [6, "move_list_broken"]]);
  assert.deepEqual(await changed(list([[1, 1], [2, 2]])), [[6, "move_list_broken"]]);
});

test("a tail that was rewritten is found by a receipt, a leaf, or another file", async () => {
  assert.deepEqual(found(await verify(file(lines(rewritten(), { change: without("leaf") })), KEYS)), [[6, "move_signature_broken"]]);
  const file2 = file(lines(unsigned(rewritten()), { change: without("leaf") }));
  assert.deepEqual(found(await verify(file2, KEYS)), []);
  assert.deepEqual(found(await verify(file2, { ...KEYS, receipts: [receipt(SERVER, ENTRIES[5])] })), [[6, "receipt_differs"]]);
  assert.deepEqual(found(await verify(file2, { ...KEYS, receipts: [receipt(SERVER, ENTRIES[4])] })), []);
  assert.ok(found(await verify([HONEST["the dossier of a seat"], file2], KEYS)).some(([at, code]) => at === 6 && code === "files_differ"));
  const leaves = [...lines(unsigned(rewritten(5))).filter(({ line }) => line !== "leaf"), ...lines(ENTRIES).filter(({ line }) => line === "leaf")];
  assert.equal(found(await verify(file(leaves), KEYS))[0].join(), "5,leaf_differs");
});

test("a tail that was cut is found by a receipt of a later version, if it is older than the file", async () => {
  const cut = file(lines(RUNNING.slice(0, 5), { change: without("leaf"), wait: 9 * HOUR }));
  assert.deepEqual(found(await verify(cut, { ...KEYS, receipts: [receipt(SERVER, ENTRIES[6])] })), [[6, "truncated"]]);
  const old = file(lines(RUNNING.slice(0, 5), { change: without("leaf"), wait: HOUR }));
  const { ok, unchecked } = await verify(old, { ...KEYS, receipts: [receipt(SERVER, ENTRIES[6])] });
  assert.ok(ok && unchecked.some((sentence) => sentence.startsWith("A receipt of version 7")));
});

test("players may use one id for a request each, and the one with which a match was created once more", async () => {
  const request = (place, id) => [place, { id, fingerprint: "0f" }];
  const given = new Map([request(0, "a1"), request(4, "a1"), request(5, "b1")]);
  const anew = ({ digest, version, signed, ...entry }) => (signed ? { ...entry, signed: true } : entry);
  const entries = ENTRIES.map(anew).map((entry, place) => (given.has(place) ? { ...entry, request: given.get(place) } : entry));
  assert.deepEqual(found(await verify(file(lines(chained(entries))), KEYS)), []);
});

test("receipts of a seat name the side log", async () => {
  const made = lines(ENTRIES),
    zero = "0".repeat(64);
  const refused = running("22".repeat(32), json(made.find(({ line }) => line === "refused")));
  const text = made.find(({ line }) => line === "read").note.split("\n\n")[0];
  const reads = running("33".repeat(32), `${text}\n`);
  const held = async (viewer, ...more) => verify(file(lines(ENTRIES, { viewer })), { ...KEYS, receipts: [receipt(SERVER, ENTRIES[5], ...more)] });
  const right = await held("all", "red", 3, refused, 3, reads);
  assert.deepEqual([found(right), right.checked["running hashes"]], [[], 2]);
  assert.deepEqual(found(await held("all", "red", 2, "22".repeat(32), 2, "33".repeat(32))), []);
  assert.deepEqual(found(await held("all", "red", 4, refused, 3, reads)), [[6, "refusals_differ"]]);
  assert.deepEqual(found(await held("all", "red", 3, zero, 3, reads)), [[6, "refusals_differ"]]);
  assert.deepEqual(found(await held("all", "red", 3, refused, 3, zero)), [[6, "reads_differ"]]);
  assert.deepEqual(found(await held("all", "blue", 1, refused, 4, reads)), [[6, "refusals_differ"], [6, "reads_differ"]]);
  assert.deepEqual(found(await held("red", "red", 3, zero, 3, reads)), [[6, "refusals_differ"]]);
  for (const [viewer, count] of [["all", 1], ["blue", 3]]) {
    const { ok, unchecked } = await held(viewer, "red", count, zero, 0, zero);
    assert.ok(ok && unchecked.some((sentence) => sentence.includes("refused actions of red that a receipt")), viewer);
  }
});

test("a match that began from a position of another one is compared with that one", async () => {
  const fork = (digest) => {
    const bare = structuredClone(RUNNING.slice(0, 3)).map(({ digest: gone, version, ...entry }) => ({
      ...entry,
      match: "mbbbbbbbbbbbbbbbb",
    }));
    bare[0].action.type = "fork_match";
    bare[0].events[0].origin = { match: MATCH, version: 4, digest };
    return Buffer.from(record(chained(bare), blindOf(SECRET).toString("hex")).toString().replace(`"match":"${MATCH}"}\n`, '"match":"mbbbbbbbbbbbbbbbb"}\n'));
  };
  const origin = HONEST["a record"];
  assert.deepEqual(found(await verify([fork(ENTRIES[3].digest), origin])), []);
  assert.deepEqual(found(await verify([fork(ENTRIES[4].digest), origin])), [[1, "origin_differs"]]);
  const { ok, unchecked } = await verify(fork(ENTRIES[3].digest));
  assert.ok(ok && unchecked.some((sentence) => sentence.startsWith("Whether the position")));
});

test("a receipt by another key proves nothing, and is named", async () => {
  const honest = HONEST["a whole dossier"];
  assert.deepEqual(found(await verify(honest, { ...KEYS, receipts: [receipt(thief, ENTRIES[5])] })), [[6, "wrong_key"]]);
  assert.deepEqual(found(await verify(honest, { ...KEYS, receipts: ["nonsense"] })), [[null, "signature_broken"]]);
});

test("checkpoints that were kept show a fork, and a newer one without a proof accuses nobody", async () => {
  const honest = HONEST["a whole dossier"],
    more = [...log, "{}", "[]"];
  const answer = (leaves, from) => ({ from, to: leaves.length, hashes: consistency(leaves, from).map((hash) => hash.toString("base64")) });
  const kept = (leaves, ...proofs) =>
    verify(honest, { ...KEYS, checkpoints: [checkpoint(SERVER, leaves)], consistency: proofs }).then(found);
  assert.deepEqual(await kept(log), []);
  assert.deepEqual(await kept(forked), [[null, "checkpoint_forked"]]);
  const newer = await verify(honest, { ...KEYS, checkpoints: [checkpoint(SERVER, more)] });
  assert.ok(newer.ok && newer.unchecked.some((sentence) => sentence.includes("--consistency")));
  assert.deepEqual(await kept(more, answer(more, log.length)), []);
  assert.deepEqual(await kept([...forked, "{}", "[]"], answer([...forked, "{}", "[]"], log.length)), [[null, "checkpoint_forked"]]);
  assert.deepEqual(await kept(log.slice(0, 5), answer(log, 5)), []);
  assert.deepEqual(await kept(forked.slice(0, 5), answer(log, 5)), [[null, "checkpoint_forked"]]);
  assert.deepEqual(await kept(forked.slice(0, 5)), []);
});

test("every place of trees of every size is proven, and no other", () => {
  const hexOf = (bytes) => Buffer.from(bytes).toString("hex");
  for (let size = 1; size < 20; size++) {
    const leaves = Array.from({ length: size }, (_, place) => String(place)),
      root = hexOf(tree(leaves));
    for (let index = 0; index < size; index++) {
      const hash = sha256(Uint8Array.of(0), Buffer.from(leaves[index])),
        path = inclusion(leaves, index);
      assert.equal(provenRoot(hash, index, size, path), root);
      assert.notEqual(provenRoot(hash, index + 1, size, path), root);
      if (size > 1) assert.notEqual(provenRoot(hash, index, size, path.slice(1)), root);
    }
    for (let small = 1; small <= size; small++) {
      const path = consistency(leaves, small).map((hash) => hash.toString("base64"));
      const [before, after] = [leaves.slice(0, small), leaves].map((list) => ({ size: list.length, root: hexOf(tree(list)) }));
      assert.ok(continues(before, after, path));
      assert.ok(!continues({ ...before, root: "0".repeat(64) }, after, path));
      assert.ok(size === small || !continues(before, after, [...path, path[0]]));
    }
  }
});

// Hostile bytes.

/** Numbers that look random and are the same each time. */
function numbers(seed) {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

test("every change of a byte of a signed file is found, and none crashes", async () => {
  const draw = numbers(1);
  for (const honest of [HONEST["a whole dossier"], HONEST["the dossier of a seat"]]) {
    for (let time = 0; time < 150; time++) {
      const bytes = Uint8Array.from(honest),
        at = draw(bytes.length);
      bytes[at] ^= 1 << draw(8);
      const { ok } = await verify(bytes, KEYS);
      assert.ok(!ok, `byte ${at}`);
    }
  }
});

test("pieces of files in any order, and any value where another belongs, do not crash it", async () => {
  const draw = numbers(2),
    values = [
      null,
      true,
      0,
      -1,
      1e300,
      0.5,
      "",
      "x",
      "__proto__",
      [],
      [[]],
      {},
      { type: 1 },
      { type: "match_created", roster: { a: 1, b: null } },
    ];
  const honest = Object.values(HONEST).map((bytes) => bytes.toString().split("\n"));
  const replaced = (value) => {
    if (draw(12) === 0) return values[draw(values.length)];
    if (Array.isArray(value)) return value.map(replaced);
    if (typeof value === "object" && value !== null)
      return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, replaced(item)]));
    return value;
  };
  for (let time = 0; time < 250; time++) {
    const rows = honest[draw(honest.length)].map((line) => (line && draw(3) === 0 ? json(replaced(JSON.parse(line))) : line));
    for (let swaps = draw(4); swaps; swaps--) rows.splice(draw(rows.length), draw(3), rows[draw(rows.length)]);
    const bytes = Buffer.from(rows.join("\n"));
    const { findings } = await verify(bytes.subarray(0, draw(4) ? bytes.length : draw(bytes.length)));
    assert.ok(Array.isArray(findings));
  }
});

test("disputes may follow the end, and play may not", async () => {
  const bare = structuredClone(ENTRIES).map(({ digest, version, ...entry }) => entry);
  const after = (type) => [...bare, { actor: "blue", at: bare[6].at + 1, action: { type }, events: [{ type: `${type}_done` }] }];
  assert.deepEqual(found(await verify(record(chained(after("dispute"))))), []);
  assert.deepEqual(found(await verify(record(chained(after("move")), blindOf(SECRET).toString("hex")))), [[8, "not_legal"]]);
});

test("a match that goes on elsewhere by a ruling tells its secret when its record is opened", async () => {
  const bare = structuredClone(ENTRIES).map(({ digest, version, ...entry }) => entry);
  const { secret, ...last } = bare[6];
  const ended = { ...last, action: { type: "close_appeal" }, events: [{ type: "match_continued", match: "mb" }, ...last.events] };
  const opened = { actor: "system", at: last.at + 9, action: { type: "open_record" }, events: [{ type: "record_opened" }], secret };
  const codes = async (...entries) =>
    found(await verify(record(chained([...bare.slice(0, 6), ...entries]), blindOf(SECRET).toString("hex"))));
  assert.deepEqual(await codes(ended, opened), []);
  assert.deepEqual(await codes(ended), []);
  assert.deepEqual(await codes({ ...ended, secret }, opened), [[7, "secret_differs"]]);
  assert.deepEqual(await codes(last, opened), [[7, "secret_differs"]]);
});

test("names that every object of JavaScript has are names like others", async () => {
  const names = ["__proto__", "constructor", "toString", "hasOwnProperty"];
  for (const name of names) {
    const entries = match({ game: name }).map(({ digest, version, ...entry }) => entry);
    entries[3].events.push({ type: name });
    const whole = file(lines(chained(entries), { change: (made) => [...made, { line: "receipt", note: note(SERVER, name, "x") }] }));
    const codes = found(await verify(whole, KEYS)).map(([, code]) => code);
    assert.ok(codes.includes("receipt_differs") && !codes.includes("digest_broken"), codes.join());
    const raw = whole.toString().replaceAll('"line":"receipt"', `"line":"${name}"`);
    assert.ok(!(await verify(Buffer.from(raw), KEYS)).ok);
  }
});

test("deep nests, endless lines and bad letters are findings", async () => {
  const files = [
    "[".repeat(100_000),
    `{"line":${"[".repeat(5000)}${"]".repeat(5000)}}\n`,
    "\n\n\n",
    "\xff\xfe",
    "a".repeat(1_000_000),
    '{"line":"entry","entry":{"version":1}}\n',
  ];
  for (const content of files) assert.ok(!(await verify(Buffer.from(content, "latin1"))).ok);
  const surrogate = Buffer.from(HONEST["a whole dossier"].toString().replace('"type":"move"', '"type":"\\ud800"'));
  assert.ok(found(await verify(surrogate, KEYS)).some(([at, code]) => at === 6 && code === "not_canonical"));
});
