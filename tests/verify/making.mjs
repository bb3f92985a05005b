// Honest dossiers for tests, made with none of the code of verify.mjs: from entries that no game has decided, but whose
// table events, dice, digests, signatures and proofs are right.

import { createHash, createHmac, createPrivateKey, createPublicKey, sign } from "node:crypto";

export const HOUR = 3_600_000;
export const START = 1_790_000_000_000;
export const MATCH = "mabcdefghijklmnop";
export const SECRET = Buffer.from(Array.from({ length: 32 }, (_, place) => place)).toString("hex");
export const RULES = "4ad8a9f14ad8a9f14ad8a9f14ad8a9f1";

const sha = (...pieces) => pieces.reduce((hash, piece) => hash.update(piece), createHash("sha256")).digest();
const mac = (key, text) => createHmac("sha256", key).update(text).digest();
const bytes = (hex) => Buffer.from(hex, "hex");

export function json(value) {
  if (Array.isArray(value)) return `[${value.map(json).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  return `{${Object.keys(value)
    .sort()
    .map((name) => `${JSON.stringify(name)}:${json(value[name])}`)
    .join(",")}}`;
}

export const blindOf = (secret) => mac(bytes(secret), "blind");
export const commitmentOf = (secret) => sha(bytes(secret)).toString("hex");
export const saltOf = (blind, version, part) => mac(blind, `${version}:${part}`);
const leafOf = (salt, part) => sha(salt, json(part)).toString("hex");

/** The faces of dice of six sides that fall first at a version. */
export function faces(secret, contributions, match, version, count, skipped = 0) {
  const key = mac(bytes(secret), json({ contributions, match }));
  return Array.from(
    { length: count },
    (_, block) => Number(BigInt(`0x${mac(key, `${version}:${block + skipped}`).toString("hex")}`) % 6n) + 1,
  );
}

export const PLAYER = createPrivateKey({
  key: Buffer.concat([bytes("302e020100300506032b657004220420"), sha("a player")]),
  format: "der",
  type: "pkcs8",
});
const POINT = createPublicKey(PLAYER).export({ format: "der", type: "spki" }).subarray(-32).toString("base64");

/** The member `signed` of an entry whose request has seen that version with this digest. */
export function signedBy(entry, seen, digest, place = 1, count = 1, key = PLAYER) {
  const lines = ["warledger.org/move/v1", MATCH, entry.actor, seen, digest, `${place}/${count}`, json(entry.action)];
  const signature = sign(null, Buffer.from(lines.map((line) => `${line}\n`).join("")), key).toString("base64");
  return { count, key: POINT, place, seen, signature };
}

const partsOf = (entry) => [
  ["a", entry.action],
  ["r", entry.request ?? null],
  ["s", entry.signed ?? null],
  ...entry.events.map((event, place) => [String(place), event]),
];

/** Give entries their versions and digests, from the first one on. */
export function chained(entries, secret = SECRET) {
  const blind = blindOf(secret);
  let previous = "0".repeat(64);
  return entries.map((given, place) => {
    const entry = { format: 3, match: MATCH, revision: 2, rules: RULES, version: place + 1, ...given };
    if (given.signed === true) entry.signed = signedBy(entry, place, previous);
    const leaves = partsOf(entry).map(([part, value]) => leafOf(saltOf(blind, entry.version, part), value));
    const { actor, at, format, match, revision, rules, version } = entry;
    const frame = { actor, at, format, leaves, match, revision, rules, version, ...(entry.secret ? { secret: entry.secret } : {}) };
    previous = sha(bytes(previous), json(frame)).toString("hex");
    return { ...entry, digest: previous };
  });
}

const CONTRIBUTIONS = { blue: "c0ffee" };

/** The entries of a match of `war` that is over: set-up, a seat that is taken, dice, clocks, a request, an end. */
export function match({ secret = SECRET, game = "war", dice = {}, over = true } = {}) {
  const roll = (version, place) => {
    const [attack, defence] = dice[version] ?? faces(secret, CONTRIBUTIONS, MATCH, version, 2, 2 * place);
    return {
      type: "attack_rolled",
      tile: "c4",
      attack: { die: attack, total: attack + 1 },
      defence: { die: defence, total: defence },
      loser: null,
    };
  };
  const created = {
    type: "match_created",
    game,
    creator: "paaaaaaaaaaaaaaaa",
    commitment: commitmentOf(secret),
    clock: { kind: "bank", seconds: 60, increment: 0, delay: 0 },
    roster: { red: { player: "paaaaaaaaaaaaaaaa" }, blue: { open: true } },
  };
  const entries = [
    {
      actor: "paaaaaaaaaaaaaaaa",
      at: START,
      action: { type: "create_match", game },
      events: [created, { type: "match_prepared", document: { deck: ["a", "é"] } }],
    },
    {
      actor: "pbbbbbbbbbbbbbbbb",
      at: START + 5,
      action: { type: "take_seat", seat: "blue", contribution: "c0ffee" },
      request: { id: "b1", fingerprint: "0f" },
      events: [{ type: "seat_taken", seat: "blue", player: "pbbbbbbbbbbbbbbbb", contribution: "c0ffee" }, { type: "seats_filled" }],
    },
    { actor: "system", at: START + 9, action: { type: "advance" }, events: [{ type: "deck_built", deck: ["c", "b", "a"] }] },
    {
      actor: "red",
      at: START + 100,
      action: { type: "attack", tile: "c4" },
      events: [roll(4, 0), roll(4, 1)],
      request: { id: "a1", fingerprint: "0f" },
    },
    { actor: "blue", at: START + 90, action: { type: "attack", tile: "c4" }, events: [roll(5, 0)] },
    { actor: "red", at: START + 5 * HOUR, action: { type: "move", to: { d4: 1 } }, signed: true, events: [{ type: "move_made", to: { d4: 1 } }] },
    {
      actor: "blue",
      at: START + 5 * HOUR + 1,
      action: { type: "resign" },
      events: [
        { type: "seat_resigned", seat: "blue" },
        { type: "match_ended", winners: ["red"] },
      ],
      secret,
    },
  ];
  return chained(over ? entries : entries.slice(0, -1), secret);
}

/** A key of a server, from a seed. */
export function keyOf(name, seed = 1) {
  const raw = sha(`seed ${seed}`);
  const secret = createPrivateKey({ key: Buffer.concat([bytes("302e020100300506032b657004220420"), raw]), format: "der", type: "pkcs8" });
  const point = createPublicKey(secret).export({ format: "der", type: "spki" }).subarray(-32);
  const id = sha(`${name}\n`, Buffer.from([1]), point).subarray(0, 4);
  return { name, id, secret, vkey: `${name}+${id.toString("hex")}+${Buffer.concat([Buffer.from([1]), point]).toString("base64")}` };
}

export const note = (key, ...lines) => {
  const text = lines.map((line) => `${line}\n`).join("");
  return `${text}\n— ${key.name} ${Buffer.concat([key.id, sign(null, Buffer.from(text), key.secret)]).toString("base64")}\n`;
};

export const receipt = (key, entry, ...more) => note(key, "warledger.org/receipt/v1", entry.match, entry.version, entry.digest, entry.at, ...more);

/** The running hash of a list after more items. */
export const running = (hash, ...items) => items.reduce((before, item) => sha(bytes(before), item).toString("hex"), hash);

/** The root of leaves, and the proof for one of them, as RFC 6962 has them. */
export function tree(leaves) {
  if (leaves.length === 1) return sha(Buffer.from([0]), leaves[0]);
  const half = halfOf(leaves.length);
  return sha(Buffer.from([1]), tree(leaves.slice(0, half)), tree(leaves.slice(half)));
}

export function inclusion(leaves, index) {
  if (leaves.length === 1) return [];
  const half = halfOf(leaves.length);
  if (index < half) return [...inclusion(leaves.slice(0, half), index), tree(leaves.slice(half))];
  return [...inclusion(leaves.slice(half), index - half), tree(leaves.slice(0, half))];
}

/** The proof that the tree of all leaves continues that of the first `size`. */
export function consistency(leaves, size, whole = true) {
  if (size === leaves.length) return whole ? [] : [tree(leaves)];
  const half = halfOf(leaves.length);
  if (size <= half) return [...consistency(leaves.slice(0, half), size, whole), tree(leaves.slice(half))];
  return [...consistency(leaves.slice(half), size - half, false), tree(leaves.slice(0, half))];
}

const halfOf = (size) => 2 ** (Math.ceil(Math.log2(size)) - 1);

export const checkpoint = (key, leaves) => note(key, key.name, leaves.length, tree(leaves).toString("base64"));

export const proof = (key, leaves, index) =>
  [
    "c2sp.org/tlog-proof@v1",
    `index ${index}`,
    ...inclusion(leaves, index).map((hash) => hash.toString("base64")),
    "",
    checkpoint(key, leaves),
  ].join("\n");

export const SERVER = keyOf("warledger-000102030405");

/** The leaves that other matches have in the log before and after. */
const others = (count) => Array.from({ length: count }, (_, place) => `{"other":${place}}`);

/** The lines of a dossier of these entries, but for the last one; `viewer` is all or a seat, which does not see the first deck. */
export function lines(entries, { key = SERVER, viewer = "all", secret = SECRET, wait = 3 * HOUR, change = (given) => given } = {}) {
  const last = entries.at(-1),
    over = Boolean(last.secret),
    blind = blindOf(secret),
    open = over || viewer === "all";
  const head = {
    line: "dossier",
    dossier: 1,
    match: MATCH,
    game: "war",
    viewer,
    versions: last.version,
    at: Math.max(...entries.map(({ at }) => at)) + wait,
    name: key.name,
    vkeys: [key.vkey],
    blind: open ? blind.toString("hex") : null,
    secret: over ? secret : null,
  };
  const made = [head, { line: "rules", game: "war", revision: 2, rules: RULES }];
  for (const entry of entries) {
    made.push(viewer === "all" ? { line: "entry", entry } : { line: "shown", entry: shown(entry, blind) });
    for (const event of entry.events) {
      const common = { line: "seat", taken: entry.version, at: entry.at, ai: null };
      if (event.type === "match_created") made.push({ ...common, seat: "red", player: event.roster.red.player, contribution: null });
      if (event.type === "seat_taken") made.push({ ...common, seat: event.seat, player: event.player, contribution: event.contribution });
    }
  }
  made.push({
    line: "refused",
    seat: "red",
    player: "paaaaaaaaaaaaaaaa",
    version: 3,
    at: START + 50,
    action: { type: "fly", height: 1 },
    code: "bad_action",
    rule: null,
  });
  made.push({ line: "refusals_dropped", seat: "red", count: 2, hash: "22".repeat(32) });
  const seen = { version: 4, at: START + 60, reader: "pcccccccccccccccc", what: "view:red" };
  made.push({ line: "reads", count: 2, hash: "33".repeat(32), newest: [seen] });
  made.push({ line: "read", note: note(key, "warledger.org/read/v1", MATCH, 4, "pcccccccccccccccc", "view:red", START + 60), count: 3 });
  made.push({ line: "receipt", note: receipt(key, last) });
  const leaves = leavesOf(entries, over),
    all = logOf(leaves);
  if (entries.some(({ signed }) => signed)) {
    const { key: point, player } = REGISTERED;
    made.push({ line: "signing_key", key: point, player, leaves: [{ index: 2, leaf: REGISTERED, proof: proof(key, all, 2) }] });
  }
  leaves.forEach((leaf, place) => made.push({ line: "leaf", index: 3 + place, leaf, proof: proof(key, all, 3 + place) }));
  return change(made);
}

/** The leaves of a match in the log: its begin, an hour, its end. */
export function leavesOf(entries, over = Boolean(entries.at(-1).secret)) {
  const leaf = (entry, kind) => ({ kind, match: entry.match, version: entry.version, at: entry.at, digest: entry.digest });
  const begin = { ...leaf(entries[0], "begin"), commitment: entries[0].events[0].commitment };
  return [begin, leaf(entries[4], "hour"), leaf(entries.at(-1), over ? "end" : "hour")];
}

/** The leaf of the key of the player of red, who registered it before the match. */
const REGISTERED = registered("paaaaaaaaaaaaaaaa");

function registered(player) {
  const text = `warledger.org/signing-key/v1\n${player}\n${POINT}\n`;
  const signature = sign(null, Buffer.from(text), PLAYER).toString("base64");
  return { at: START - HOUR, key: POINT, kind: "signing_key", player, signature };
}

export const logOf = (leaves) => [...others(2), json(REGISTERED), ...leaves.map(json), ...others(2)];

function shown(entry, blind) {
  const salt = (part) => ({ salt: saltOf(blind, entry.version, part).toString("hex") });
  const leaf = (part, value) => ({ leaf: leafOf(saltOf(blind, entry.version, part), value) });
  const hidden = (event) => ["match_prepared", "deck_built"].includes(event.type);
  const { version, actor, at, digest, revision, action, secret, signed } = entry;
  return {
    version,
    actor,
    action,
    at,
    digest,
    revision,
    ...(secret ? { secret } : {}),
    ...(signed ? { signed } : {}),
    events: entry.events.map((event) => (hidden(event) ? { type: event.type } : event)),
    proof: {
      format: 3,
      rules: entry.rules,
      action: salt("a"),
      request: leaf("r", entry.request ?? null),
      signed: salt("s"),
      events: entry.events.map((event, place) => (hidden(event) ? leaf(String(place), event) : salt(String(place)))),
    },
  };
}

/** A whole file: the lines, and the line that ends them, signed by `key`. `text` changes the text of the lines before they are signed. */
export function file(made, { key = SERVER, text = (given) => given } = {}) {
  const head = made.find(({ line }) => line === "dossier");
  const body = text(made.map((line) => `${json(line)}\n`).join(""));
  const signed = note(key, "warledger.org/dossier/v1", head.match, head.versions, head.viewer, sha(body).toString("hex"));
  return Buffer.from(`${body}${json({ line: "end", lines: body.split("\n").length - 1, note: signed })}\n`);
}

/** A record: the first line, and every entry. */
export const record = (entries, blind = null) =>
  Buffer.from([{ blind, match: MATCH }, ...entries].map((line) => `${json(line)}\n`).join(""));

/** The same in one JSON object, as the server answers a browser. */
export const recordInOne = (entries, blind = null) => Buffer.from(`{"entries":[${entries.map(json)}],${json({ blind, match: MATCH }).slice(1)}`);
