import assert from "node:assert/strict";
import { test } from "node:test";

import { Disagreement } from "../../../web/static/comparing.js";
import { foreign, judged } from "../../../web/static/foreign.js";
import { Memory } from "../../../web/static/storing.js";

const [ADA, BEN] = ["paaaaaaaaaaaaaaaa", "pbbbbbbbbbbbbbbbb"];
const [MINE, OTHER] = ["my key", "another key"];
const AT = 1_790_000_000_000;

/** Entries from version 5 on, as a match shows them: [actor, key or null, event of the table]. */
const entries = (...rows) =>
  rows.map(([actor, key, type = "moved", seat = actor], place) => ({
    version: place + 5,
    actor,
    at: AT,
    action: { type: "move" },
    events: [{ type, seat }],
    proof: { signed: { salt: "00" } },
    ...(key && { signed: { key, seen: place + 4 } }),
  }));

const standing = (more = {}) => ({ id: "m", seats: { red: { player: ADA }, blue: { player: BEN } }, substitutes: {}, signed: "accepted", ...more });

/** Versions that are told as foreign, of a match as it stands. `sent`: by version the key of what this browser has sent. */
const versions = (walked, { sent = {}, key = MINE, ...more } = {}) =>
  foreign({ standing: standing(more), player: ADA, walked, sent: new Map(Object.entries(sent).map(([version, used]) => [Number(version), used])), key }).map(({ entry }) => entry.version);

test("a move that this browser has neither sent nor signed is told, whoever else has signed it", () => {
  assert.deepEqual(versions(entries(["red", MINE], ["blue", OTHER], ["red", null], ["red", OTHER], ["system", null])), [7, 8]);
  assert.deepEqual(versions(entries(["red", null], ["red", null]), { sent: { 5: "" }, key: null }), [6]);
});

test("what was signed with a key that this browser has no more was sent by it", () => {
  assert.deepEqual(versions(entries(["red", OTHER], ["red", MINE]), { sent: { 5: OTHER } }), []);
});

test("a signature over a version that was not checked here is none", () => {
  const walked = entries(["red", MINE], ["red", MINE]);
  walked[1].signed.seen = 2;
  assert.deepEqual(versions(walked), [6]);
  assert.deepEqual(versions(walked, { sent: { 6: MINE } }), []);
});

test("of a seat that sees less of its own entry nothing is said", () => {
  const walked = entries(["red", null]);
  walked[0].proof.signed = { leaf: "ab" };
  assert.deepEqual(versions(walked), []);
});

test("what an artificial player did for the seat is no move of somebody else", () => {
  const between = entries(["red", null], ["system", null, "seat_substituted", "red"], ["red", null], ["red", null, "seat_returned"], ["red", null]);
  assert.deepEqual(versions(between), [5, 9]);
  assert.deepEqual(versions(entries(["red", null], ["red", null, "seat_returned"])), [], "it stood in before this browser looked");
  assert.deepEqual(versions(entries(["red", null]), { substitutes: { red: "house:easy" } }), []);
  assert.deepEqual(versions(entries(["red", OTHER]), { substitutes: { red: "house:easy" } }), [5], "it does not sign");
});

test("what somebody else did who had the seat is left out, and what this browser played there is not", () => {
  const taken = ["pbbbbbbbbbbbbbbbb", null, "seat_handed_over", "red"];
  assert.deepEqual(versions(entries(["red", OTHER], taken, ["red", null])), [7]);
  const away = { seats: { red: { player: BEN }, blue: { player: BEN } } };
  assert.deepEqual(versions(entries(["red", MINE], ["red", null, "seat_offered"], taken, ["red", OTHER]), away), [6]);
  assert.deepEqual(versions(entries(["red", null], taken, ["red", OTHER]), away), []);
});

/** What is said of entries. `keys`: the list of the player's signing keys, or null if the server does not give it. */
async function said(walked, { sent = new Map(), keys = [], ...more } = {}) {
  const storage = new Memory();
  await storage.change("signing", ADA, () => ({ publicKey: MINE }));
  const ask = async (path) => {
    if (path.endsWith("signing-keys") && keys === null) throw new Error("away");
    return new Response(JSON.stringify(path.endsWith("signing-keys") ? { keys } : { receipt: `receipt ${path.split("/").at(-1)}` }));
  };
  return judged({ here: { storage, ask, receipts: { keys: async () => ["vkey"] } }, standing: standing(more), player: ADA, walked, sent }).catch((problem) => problem);
}

test("the player is asked about moves that an honest server may have, and gets a file only by saying no", async () => {
  const keys = [{ key: OTHER, revoked: null }];
  const { sentence, accused } = await said(entries(["red", null], ["blue", null], ["red", OTHER]), { keys });
  assert.equal(sentence, "2 moves of your seats were not sent by this browser (versions 5, 7). That is usual if you also play elsewhere, or if this browser has lost what it kept.");
  const found = await accused();
  assert.equal(found.title, "Moves in your name that you did not make");
  assert.deepEqual(found.proof.receipts, ["receipt 4", "receipt 5", "receipt 6", "receipt 7"]);
  assert.deepEqual(found.proof.entries.map(({ version }) => version), [5, 7]);
  assert.match((await said(entries(...Array(9).fill(["red", null])))).sentence, /^9 moves .* \(versions 5, 6, 7, 8, 9 …\)/);
  assert.equal(await said(entries(["red", MINE])), null);
});

test("a key that the server does not list, or has as revoked, is an alarm", async () => {
  const walked = entries(["red", OTHER]);
  const alarm = async (keys) => (await said(walked, { keys })) instanceof Disagreement;
  assert.equal(await alarm([]), true);
  assert.equal(await alarm([{ key: OTHER, revoked: AT - 61_000 }]), true);
  assert.equal(await alarm([{ key: OTHER, revoked: AT - 59_000 }]), false, "two machines have two clocks");
  assert.equal(await alarm(Array(100).fill({ key: "k", revoked: null })), false, "a full list has forgotten some");
  assert.equal(await alarm(null), false);
  const before = entries(["red", OTHER], ["red", MINE], [BEN, null, "seat_handed_over", "red"]);
  assert.equal((await said(before, { keys: [], seats: { red: { player: BEN } } })) instanceof Disagreement, false, "whose seat it was is not sure");
});

test("a move that lost its signature is an alarm, as is an unsigned one where all must sign", async () => {
  const stripped = await said(entries(["red", null]), { sent: new Map([[5, MINE]]) });
  assert.match(stripped.message, /^The server shows your move of version 5 with another signature/);
  const bare = await said(entries(["red", null]), { signed: "required" });
  assert.equal(bare.message, "Moves of this match must be signed, but version 5 of your seat is not.");
  const perhaps = entries(["red", null], ["red", MINE, "seat_resigned"]);
  assert.equal((await said(perhaps, { signed: "required" })) instanceof Disagreement, false, "an artificial player may have stood in");
});
