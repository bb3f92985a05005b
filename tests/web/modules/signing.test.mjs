import assert from "node:assert/strict";
import { test } from "node:test";

import { canonical } from "../../../sdk/js/canonical.js";
import * as sdk from "../../../sdk/js/signing.js";
import { browserName, shortKey, Signing } from "../../../web/static/signing.js";
import { Memory } from "../../../web/static/storing.js";

const PLAYER = "paaaaaaaaaaaaaaaa";

class Lasting extends Memory {
  lasting = true;
}

/** A server that lists and registers keys. `refusals`: codes with which it refuses the next ones. */
function server(keys = [], refusals = []) {
  const asked = [];
  const json = async (path, { method = "GET", body } = {}) => {
    asked.push(`${method} ${path}`);
    if (method === "GET") return { keys };
    const code = refusals.shift();
    if (code) throw Object.assign(new Error(`It is ${code}.`), { code });
    const bytes = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    const key = await crypto.subtle.importKey("raw", bytes(body.key), { name: "Ed25519" }, false, ["verify"]);
    const text = new TextEncoder().encode(sdk.registrationText(PLAYER, body.key));
    assert.ok(await crypto.subtle.verify({ name: "Ed25519" }, key, bytes(body.signature), text));
    keys.push({ key: body.key, name: body.name, revoked: null });
    return body;
  };
  return { asked, json, keys };
}

const made = ({ json }, storage = new Lasting(), more = {}) => new Signing({ storage, sdk, json, name: "Firefox on Linux", ...more });

test("a key is made that nobody can read, registered once, and kept", async () => {
  const there = server();
  const storage = new Lasting();
  const [one, other] = await Promise.all([1, 2].map(() => made(there, storage).key(PLAYER)));
  assert.equal(one.publicKey, other.publicKey);
  assert.equal(one.privateKey.extractable, false);
  await assert.rejects(crypto.subtle.exportKey("pkcs8", one.privateKey));
  const again = made(there, storage);
  assert.equal((await again.key(PLAYER)).publicKey, one.publicKey);
  assert.equal(await again.known(PLAYER), one.publicKey);
  assert.deepEqual(there.keys.map(({ name }) => name).at(0), "Firefox on Linux");
  assert.equal(there.asked.filter((line) => line.startsWith("GET")).length, 2);
  const move = { match: "m", actor: "red", seen: 4, digest: "ab".repeat(32) };
  assert.match(await sdk.signed(one, move, [{ type: "pass" }]), /^key=:[A-Za-z0-9+/=]{44}:, seen=4, digest="(ab){32}", signatures=\(:[A-Za-z0-9+/=]{88}:\)$/);
  assert.equal(canonical(sdk.recorded({ type: "a", ships: { b: 0, c: 1 } })), '{"ships":{"c":1},"type":"a"}');
});

test("a key that was revoked makes way for a new one, also where the list has forgotten it", async () => {
  const storage = new Lasting();
  const there = server();
  const first = made(there, storage);
  const { publicKey } = await first.key(PLAYER);
  there.keys[0].revoked = 5;
  await first.again(PLAYER);
  const second = await first.key(PLAYER);
  assert.notEqual(second.publicKey, publicKey);
  const forgetful = server([], ["signing_key_revoked"]);
  const later = made(forgetful, storage);
  await later.again(PLAYER);
  const third = await later.key(PLAYER);
  assert.ok(![publicKey, second.publicKey].includes(third.publicKey));
  assert.deepEqual(forgetful.keys.map(({ key }) => key), [third.publicKey]);
});

test("where a browser cannot sign it says why, and what to do", async () => {
  const cases = [
    [made(server(), new Lasting(), { secure: false }), /over https/],
    [made(server(), new Memory()), /private window/],
    [made(server(), new Lasting(), { sdk: { ...sdk, newKey: async () => null } }), /no Ed25519/],
    [made(server([], ["too_many_signing_keys"])), /could not be registered. It is too_many_signing_keys/],
  ];
  for (const [signing, why] of cases) {
    assert.equal(await signing.key(PLAYER), null);
    assert.match(signing.why, why);
  }
  const luckier = made(server([], ["away"]));
  assert.equal(await luckier.key(PLAYER), null);
  assert.ok(await luckier.key(PLAYER));
  assert.equal(luckier.why, null);
});

test("who signs is the seat, or the player who has none yet, and before the start nobody", () => {
  assert.deepEqual(["move", "resign", "take_over", "rule_dispute", "take_seat", "rematch"].map((type) => sdk.actorOf(type, "red", PLAYER)), ["red", "red", PLAYER, PLAYER, null, null]);
});

test("a browser has a name, and a key a short form", () => {
  assert.equal(browserName("Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"), "Firefox on Linux");
  assert.equal(browserName("Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Mobile Safari/537.36"), "Chrome on Android");
  assert.equal(browserName("curl"), "Browser");
  assert.equal(shortKey("ebVWLo/mVPlAeLES6KmLp5AfhTrmlb7X4OORC60ElmQ="), "ebVWLo/m…");
});
