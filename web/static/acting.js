// What a seat does is sent here: signed by the key of this browser where it has one.

import { json, keeping, send } from "./asking.js";
import { comparing, failed } from "./evidence.js";
import { browserName, Signing } from "./signing.js";

const TRIES = 4; // how often an action is signed anew because the match has moved on

let loaded = null;

/** Return the Signing of this page. */
export const signing = () =>
  (loaded ??= (async () => {
    const { storage, sdk } = await comparing();
    return new Signing({ storage, sdk, json, name: browserName(navigator.userAgent) });
  })());

/** Return why the player of this browser cannot sign, in a sentence, or null. A key is made and registered if there is none. */
export async function unsigned() {
  const here = await signing();
  await here.key(keeping.player);
  return here.why;
}

/** Make ready to sign what will be decided at a version of a match. */
export async function prepare(match, version) {
  await Promise.all([unsigned(), (await comparing()).digest(match, version).catch(failed)]);
}

/** Return an action, or a list of them, in the form that is signed and sent. */
async function recorded(body) {
  const { sdk } = await comparing();
  return Array.isArray(body) ? body.map(sdk.recorded) : sdk.recorded(body);
}

/**
 * Send actions of a match, signed if this browser can. Return the answer. Throw a Problem.
 *
 * `path`: where to. `match`, `seat`: who acts. `version`: the one at which it was decided. `body`: what is sent. `actions`: what is recorded,
 * if that is not the body.
 */
export async function act({ path, match, seat, version, body, actions }) {
  const sent = actions ? body : await recorded(body);
  const signed = await recorded([actions ?? body].flat());
  for (let tries = 1; ; tries += 1) {
    const move = await moved(match, seat, version, signed);
    const headers = move ? { "Warledger-Signature": await move.header() } : {};
    try {
      return await send(path, sent, headers);
    } catch (problem) {
      if (!move || tries === TRIES) throw problem;
      if (problem.code === "history_differs") await differs(move);
      if (problem.code === "signing_key_unknown") await (await signing()).again(keeping.player);
      else if (problem.code === "stale") ({ version } = await json(`/v1/matches/${match}`));
      else throw problem;
    }
  }
}

/** Return what is signed for actions, {match, actor, seen, digest, header}, or null if they are not signed. */
async function moved(match, seat, version, actions) {
  const here = await comparing();
  const actor = here.sdk.actorOf(actions[0].type, seat, keeping.player);
  const key = actor && (await (await signing()).key(keeping.player));
  if (!key) return null;
  const digestAt = (seen) => here.digest(match, seen).catch(failed);
  // A version from before the first receipt here cannot be signed. The newest one that was followed can.
  const seen = (await digestAt(version)) ? version : here.followed?.version;
  const digest = seen && (await digestAt(seen));
  if (!digest) return null;
  const move = { match, actor, seen, digest };
  return { ...move, header: () => here.sdk.signed(key, move, actions) };
}

/** Raise the alarm for a server that says that a version is another one than it has shown. */
async function differs({ match, seen, digest }) {
  failed(await (await comparing()).differing(match, seen, digest));
}
