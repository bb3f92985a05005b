// The SDK against a real server, whose address is in WARLEDGER_URL. Faults are brought about between the client and the server.

import assert from "node:assert/strict";
import { mkdtemp, readFile, readdir, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";

import { Folder } from "../../../sdk/js/folder.js";
import {
  BadReceipt, BrokenChain, Client, Conflict, Evidence, Forbidden, Memory, Receipts, Refused, TwoHistories, Unauthorized, Unreachable, inTheGame,
} from "../../../sdk/js/warledger.js";

const URL = process.env.WARLEDGER_URL;
const SEATS = {
  war: { red: "me", blue: "ai:random" },
  war_of_the_worlds: { aliens: "me", humans: "ai:random" },
  war_of_civilizations: { lion: "me", fox: "ai:random" },
};
const SHORT = { war: {}, war_of_the_worlds: { round_limit: 3 }, war_of_civilizations: { round_limit: 5 } };
const first = ({ choices }) => choices[0];
const any = ({ choices }) => choices[Math.floor(Math.random() * choices.length)];

async function all(items) {
  const found = [];
  for await (const item of items) found.push(item);
  return found;
}

async function player(name = "Ada", settings = {}) {
  const client = new Client(URL, settings);
  await client.register(name);
  return client;
}

/** Play a match of War! to its end. Return it and its client. */
async function played(settings) {
  const client = await player("Ada", settings);
  const match = await client.create("war", SEATS.war);
  await match.play(any);
  return [match, client];
}

const over = played();

for (const game of Object.keys(SEATS)) {
  test(`a whole match of ${game}, whose chain is checked to its end`, async () => {
    const client = await player("Ada", { receipts: new Memory() });
    const match = await client.create(game, SEATS[game], { options: SHORT[game] });
    const standing = await match.play(any);
    assert.equal(standing.status, "over");
    assert.deepEqual(match.outcome, standing.outcome);
    assert.equal(match.evidence.version, standing.version);
    const entries = await all(match.entries());
    assert.equal(match.evidence.digest, entries.at(-1).digest);
    const notes = await client.receipts.of(match.id);
    assert.ok(notes.size > 3 && notes.has(standing.version) && notes.has(1));
  });
}

test("answers that are lost are asked for again, and nothing is done twice", async () => {
  let sent = 0;
  const losing = async (url, init) => {
    const answer = await fetch(url, init);
    if (init.method !== "POST" || ++sent % 4) return answer;
    await answer.arrayBuffer(); // the server has carried it out
    throw new TypeError("terminated");
  };
  const client = await player("Ada", { fetch: losing });
  const match = await client.create("war", SEATS.war);
  let acted = 0;
  for await (const turn of match.turns()) {
    if (await turn.act(any(turn))) acted += 1;
  }
  assert.ok(sent > acted * 1.2);
  const mine = (await all(match.entries())).filter(({ actor }) => actor === "red");
  assert.equal(mine.length, acted);
  assert.equal((await all(client.matches({ player: "me" }))).length, 1);
});

test("a stream that is cut everywhere brings each entry once, in order", async () => {
  const [match, client] = await over;
  let opened = 0;
  const cutting = async (url, init) => {
    const answer = await fetch(url, init);
    if (!url.includes("/stream") || answer.status !== 200) return answer;
    opened += 1;
    let left = 20_000;
    const cut = new TransformStream({
      transform(bytes, controller) {
        controller.enqueue(bytes.slice(0, left));
        left -= bytes.length;
        if (left <= 0) controller.error(new TypeError("terminated"));
      },
    });
    return new Response(answer.body.pipeThrough(cut), answer);
  };
  const reader = new Client(URL, { key: client.key, fetch: cutting });
  const found = await all(reader.match(match.id).stream());
  assert.ok(opened > 3);
  assert.deepEqual(found.map(({ version }) => version), Array.from({ length: match.last.version }, (_, place) => place + 1));
  assert.deepEqual(found.map(({ proof, ...entry }) => entry), await all(match.entries()));
});

test("a stream goes on from a version, and one that is over ends at once", async () => {
  const [match, client] = await over;
  const again = client.match(match.id);
  const { version } = match.last;
  assert.deepEqual((await all(again.stream({ after: version - 2 }))).map((entry) => entry.version), [version - 1, version]);
  assert.equal(again.evidence.version, version);
  assert.deepEqual(await all(client.match(match.id).stream({ after: version, check: false })), []);
});

test("several readers of a match check it together", async () => {
  const client = await player();
  const match = await client.create("war", SEATS.war);
  const [watched, standing] = await Promise.all([all(match.stream()), match.play(any)]);
  assert.equal(watched.length, standing.version);
  assert.equal(match.evidence.version, standing.version);
  const [evidence, entries] = [new Evidence(match.id), await all(match.entries({ proof: true }))];
  await Promise.all([...entries, ...entries].map((entry) => evidence.entry(entry)));
  assert.equal(evidence.digest, match.evidence.digest);
});

test("a state of one's own follows from the events", async () => {
  const [match] = await over;
  const states = await all(match.fold((counts, { type }) => ({ ...counts, [type]: (counts[type] ?? 0) + 1 }), {}));
  const [counts, last] = states.at(-1);
  assert.equal(states.length, match.last.version);
  assert.equal(last.version, match.last.version);
  assert.equal(counts.match_ended, 1);
});

test("a refusal has its rule and its sentence", async () => {
  const client = await player();
  const match = await client.create("war", { red: "me", blue: "me" }, { options: { first_seat: "red" } });
  for await (const turn of match.turns()) {
    const refused = await match.act({ type: "move", from: "a1", to: { z9: 1 } }, { version: turn.version }).catch((problem) => problem);
    assert.ok(refused instanceof Refused, String(refused));
    assert.ok(refused.code && refused.detail.endsWith("."));
    if (refused.rule !== null) assert.match((await client.rule("war", refused.rule)).text, /\w/);
    break;
  }
  await assert.rejects(new Client(URL).me(), Unauthorized);
});

test("friends join with a code, and hear of it", async () => {
  const [ada, ben] = [await player("Ada"), await player("Ben")];
  const match = await ada.create("war", { red: "me", blue: "open" }, { code: true });
  await assert.rejects(ben.match(match.id).join("blue"), Forbidden);
  for await (const { kind, data } of ada.news({ created: true })) {
    if (kind === "ready") await ben.match(match.id).join("blue", { code: match.last.code, contribution: "c0ffee" });
    if (kind !== "joined" || data.match !== match.id) continue;
    assert.equal(data.seat, "blue");
    break;
  }
  const stop = new AbortController();
  const waits = [ada, ben].map(async (client) => (await client.match(match.id).turns({ signal: stop.signal }).next()).value);
  const turn = await Promise.race(waits);
  stop.abort();
  await Promise.allSettled(waits);
  assert.ok(turn.choices.length && (await turn.state()).view);
  const planned = await turn.match.plan(turn.choices[0]).catch((problem) => problem);
  assert.ok(planned.view ?? planned.code);
  assert.match(await match.board(), /Ada/);
  assert.match(await match.picture({ shape: "board", theme: "dark" }), /^<svg/);
  assert.ok((await all(match.frames({ key: false }))).every(({ text }) => text.length));
});

test("after the end: a rematch, a practice match, the signed file", async () => {
  const [match, client] = await over;
  const next = await match.rematch();
  assert.equal(next.last.rematch_of, match.id);
  const practice = await client.practise(match.id, 5);
  assert.equal(practice.last.origin.version, 5);
  const lines = (await match.dossier()).trim().split("\n").map(JSON.parse);
  assert.equal(lines.at(-1).line, "end");
});

test("turns end with their signal, and one that is passed over leaves the match alone", async () => {
  const client = await player();
  const match = await client.create("war", { red: "me", blue: "me" });
  const stop = new AbortController();
  let turns = 0;
  await assert.rejects(
    match.play(
      () => {
        turns += 1;
        setTimeout(() => stop.abort(new Error("enough")), 50);
      },
      { signal: stop.signal },
    ),
    /enough/,
  );
  assert.equal(turns, 1);
});

test("a turn whose action was refused comes again", async () => {
  let refusals = 0;
  const refusing = async (url, init) => {
    if (!url.includes("/actions") || ++refusals > 2) return fetch(url, init);
    return Response.json({ code: "too_wet", detail: "It rains." }, { status: 409 });
  };
  const client = await player("Ada", { fetch: refusing });
  const match = await client.create("war", { red: "me", blue: "me" }, { options: { first_seat: "red" } });
  const seen = [];
  for await (const turn of match.turns()) {
    seen.push([turn.version, (await turn.act(turn.choices[0])) !== null, turn.refused?.code]);
    if (turn.played) break;
  }
  const [[version]] = seen;
  assert.deepEqual(seen, [[version, false, "too_wet"], [version, false, "too_wet"], [version, true, undefined]]);
});

test("receipts are kept in a folder, and hold the server to what it has signed", async () => {
  const folder = await mkdtemp(join(tmpdir(), "warledger-"));
  const [match, client] = await played({ receipts: new Folder(folder) });
  const file = join(folder, `${match.id}.jsonl`);
  const names = (await readdir(folder)).filter((name) => !name.startsWith("signing-key-"));
  assert.deepEqual(names.sort(), ["log.jsonl", `${match.id}.jsonl`, "server-keys.txt"]);
  const later = new Client(URL, { key: client.key, receipts: new Folder(folder) }).match(match.id);
  await all(later.stream());
  assert.equal(later.evidence.version, match.last.version);

  const lines = (await readFile(file, "utf8")).trim().split("\n");
  const forged = JSON.parse(lines[1]).replace(/\n[0-9a-f]{64}\n/, `\n${"ab".repeat(32)}\n`);
  await writeFile(file, [lines[0], JSON.stringify(forged), ...lines.slice(2)].join("\n") + "\n");
  const cheated = new Client(URL, { key: client.key, receipts: new Folder(folder) }).match(match.id);
  await assert.rejects(all(cheated.stream()), (alarm) => alarm instanceof TwoHistories && alarm.kept === forged);
  const version = Number(forged.split("\n")[2]);
  await assert.rejects(client.match(match.id).receipt(version).then(() => cheated.receipt(version)), TwoHistories);
  await assert.rejects(client.receipts.keep(forged), BadReceipt);
});

test("a match that requires signatures is played, and each move is signed by one key", async () => {
  const store = new Folder(await mkdtemp(join(tmpdir(), "warledger-")));
  const client = await player("Ada", { receipts: store });
  const match = await client.create("war", SEATS.war, { signed: "required" });
  let turns = 0;
  for await (const turn of match.turns()) {
    if (++turns < 15) await turn.act(first(turn));
    else await match.act({ type: "resign" });
  }
  const entries = (await all(match.entries({ proof: true }))).filter(({ actor }) => actor === "red");
  const { key } = await client.signer();
  assert.deepEqual(new Set(entries.map(({ signed }) => signed.key)), new Set([key.publicKey]));
  assert.equal(match.evidence.version, match.last.version);
  const unsigned = await new Client(URL, { key: client.key, sign: false }).create("war", SEATS.war, { signed: "required" });
  await assert.rejects(unsigned.act({ type: "resign" }), { code: "signature_needed" });
});

test("a receipt that no trusted key has signed is refused", async () => {
  const other = "example+00000000+AYgZzP7wqd3xBjzjeKrEQqAZPMLN+RgeZBlMOIV6X/Zk";
  const client = await player("Ada", { receipts: new Receipts(new Memory(), [other]) });
  await assert.rejects(client.create("war", SEATS.war), BadReceipt);
});

test("an entry that was changed on the way breaks the chain", async () => {
  const [match, client] = await over;
  const changing = async (url, init) => {
    const answer = await fetch(url, init);
    if (!url.includes("/entries")) return answer;
    const page = await answer.json();
    for (const entry of page.entries) if (entry.version === 3) entry.at += 1;
    return Response.json(page);
  };
  const reader = new Client(URL, { key: client.key, fetch: changing }).match(match.id);
  await assert.rejects(reader.play(first), (alarm) => alarm instanceof BrokenChain && alarm.version === 3 && alarm.entry.version === 3);
});

test("an entry that is left out breaks the chain, too", async () => {
  const [match, client] = await over;
  const hiding = async (url, init) => {
    const answer = await fetch(url, init);
    if (!url.includes("/entries")) return answer;
    const page = await answer.json();
    return Response.json({ ...page, entries: page.entries.filter(({ version }) => version !== 3) });
  };
  const reader = new Client(URL, { key: client.key, fetch: hiding }).match(match.id);
  await assert.rejects(reader.play(first), (alarm) => alarm instanceof BrokenChain && alarm.expected === null);
});

test("nobody at the address", async () => {
  const client = new Client("http://127.0.0.1:1", { patience: 0.1 });
  await assert.rejects(client.games(), Unreachable);
  await assert.rejects(client.match("m1").stream({ check: false }).next(), Unreachable);
});

test("games and their players", async () => {
  const client = await player();
  assert.deepEqual((await client.games()).map(({ id }) => id).sort(), Object.keys(SEATS).sort());
  assert.ok((await client.game("war")).levels.length > 2);
  assert.equal((await client.player((await client.me()).id)).name, "Ada");
  const { choices } = await (await client.create("war", { red: "me", blue: "open" })).choices();
  assert.deepEqual(inTheGame(choices), []);
  await assert.rejects((await client.create("war", { red: "me", blue: "open" })).act({ type: "resign" }), Conflict);
});
