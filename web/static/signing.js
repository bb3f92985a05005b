// The signing key of a player in this browser. It is made here, no program can read it, and it never leaves. It knows no page: what it needs
// is given to it. `sdk`: signing.js of sdk/js.

import { t } from "./language.js";

const LISTED = "/v1/players/me/signing-keys";

export class Signing {
  #ready = new Map(); // by player: a promise of the key, or null

  /** `storage`: the tables of storing.js. `json`: asks the server for JSON, and throws a Problem with `code` and `message`. `name`: of the browser. */
  constructor({ storage, sdk, json, name, secure = globalThis.crypto?.subtle !== undefined }) {
    Object.assign(this, { storage, sdk, json, name, secure });
    this.why = null; // why nothing can be signed, in sentences that say what to do
  }

  /** Return the key with which a player signs here, {publicKey, privateKey}, made and registered at first; null where that is impossible. */
  key(player) {
    if (!this.#ready.has(player)) this.#ready.set(player, this.#prepared(player));
    return this.#ready.get(player);
  }

  /** Return the public key that is kept for a player, or null. Nothing is made. */
  async known(player) {
    return (await this.storage.get("signing", player))?.publicKey ?? null;
  }

  /** Look again whether the key of a player is registered, as after the server has refused it. */
  async again(player) {
    this.#ready.delete(player);
    await this.storage.change("signing", player, (kept) => kept && { ...kept, registered: false });
  }

  async #prepared(player) {
    this.why = this.#lack();
    if (this.why !== null) return null;
    try {
      const kept = await this.storage.get("signing", player);
      if (kept?.registered) return kept;
      const { keys } = await this.json(LISTED);
      const revoked = keys.filter((one) => one.revoked !== null).map(({ key }) => key);
      for (;;) {
        const key = await this.#made(player, revoked);
        if (key === null) return null;
        try {
          if (!keys.some((one) => one.key === key.publicKey)) await this.#register(player, key);
          return await this.storage.change("signing", player, (now) => (now?.publicKey === key.publicKey ? { ...now, registered: true } : now));
        } catch (problem) {
          if (problem.code !== "signing_key_revoked" || revoked.includes(key.publicKey)) throw problem;
          revoked.push(key.publicKey); // so long ago that the list has forgotten it
        }
      }
    } catch (problem) {
      if (!problem.code) throw problem;
      if (problem.code === "away") this.#ready.delete(player); // the next action may be luckier
      this.why = t("Moves are not signed: the key of this browser could not be registered. {reason}", { reason: problem.message });
      return null;
    }
  }

  /** Return why this browser has no key, or null. */
  #lack() {
    if (!this.secure) return t("Moves are not signed: browsers sign only on pages that came over https. Open this page over https.");
    if (!this.storage.lasting) return t("Moves are not signed: this browser keeps nothing here, and so no key. Use no private window.");
    return null;
  }

  /** Return the key that is kept, or a new one if it is revoked or there is none. */
  async #made(player, revoked) {
    const fresh = await this.sdk.newKey();
    if (fresh === null) this.why = t("Moves are not signed: this browser has no Ed25519. Newer browsers have it.");
    if (fresh === null) return null;
    return this.storage.change("signing", player, (kept) => (kept && !revoked.includes(kept.publicKey) ? kept : { ...fresh, registered: false }));
  }

  async #register(player, key) {
    const signature = await this.sdk.signText(key, this.sdk.registrationText(player, key.publicKey));
    await this.json(LISTED, { method: "POST", body: { key: key.publicKey, name: this.name, signature } });
  }
}

const BROWSERS = [["Edg", "Edge"], ["OPR", "Opera"], ["Firefox", "Firefox"], ["Chrome", "Chrome"], ["Safari", "Safari"]];
const SYSTEMS = [["Android", "Android"], ["iPhone", "iPhone"], ["iPad", "iPad"], ["Windows", "Windows"], ["Mac OS X", "macOS"], ["Linux", "Linux"]];

/** Return a name for a browser, such as "Firefox on Linux", from what it calls itself. */
export function browserName(agent) {
  const [browser, system] = [BROWSERS, SYSTEMS].map((names) => names.find(([mark]) => agent.includes(mark))?.[1]);
  if (!browser || !system) return browser ?? system ?? t("Browser");
  return t("{browser} on {system}", { browser, system });
}

/** Return a public key as short as people compare it. */
export const shortKey = (key) => `${key.slice(0, 8)}…`;
