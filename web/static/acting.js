// What a seat does is sent here: signed by the key of this browser where it has one.

import { json, keeping, send } from "./asking.js";
import { comparing, failed, sending } from "./evidence.js";
import { t } from "./language.js";
import { browserName, Signing } from "./signing.js";
import { tell } from "./site.js";

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
  try {
    const here = await signing();
    await here.key(keeping.player);
    return here.why;
  } catch (problem) {
    loaded = null;
    return t("Moves are not signed: {reason}", { reason: problem.message });
  }
}

/** Make ready to sign what will be decided at a version of a match. */
export async function prepare(match, version) {
  if ((await unsigned()) === null) await followed(match, version);
}

/** Return the digest of a version, or undefined. What goes wrong is told beside the log. */
async function followed(match, version) {
  try {
    return await (await comparing()).digest(match, version);
  } catch (problem) {
    failed(problem);
    return undefined;
  }
}

/**
 * Send actions of a match, signed if this browser can. Return the answer. Throw a Problem.
 *
 * `path`: where to. `match`, `seat`: who acts; the seat is null where a player acts without one. `version`: the one at which it was decided.
 * `body`: what is sent. `actions`: what is recorded, if that is not the body.
 */
export async function act(request) {
  const work = acted(request);
  sending.done = work.catch(() => {});
  return work;
}

async function acted({ path, match, seat, version, body, actions }) {
  const given = actions ?? [body].flat();
  if ((await unsigned()) !== null) return noted(match, seat, given, "", await send(path, body));
  const { sdk } = await comparing();
  const actor = sdk.actorOf(given[0].type, seat, keeping.player);
  if (actor === null) return send(path, body);
  const admitted = given.map(sdk.recorded);
  const sent = actions ? body : Array.isArray(body) ? admitted : admitted[0];
  for (let tries = 1; ; tries += 1) {
    const move = await moveAt(match, actor, version);
    if (move === null) tell(t("This was sent without a signature, since the history of the match could not be followed."), true);
    const key = await (await signing()).key(keeping.player);
    const headers = move && { "Warledger-Signature": await sdk.signed(key, move, admitted) };
    try {
      return noted(match, actor, given, move ? key.publicKey : "", await send(path, sent, headers ?? {}));
    } catch (problem) {
      if (problem.code === "history_differs") failed(await (await comparing()).differing(match, move.seen, move.digest));
      if (move === null || tries === TRIES) throw problem;
      if (problem.code === "stale") ({ version } = await json(`/v1/matches/${match}`));
      else if (problem.code !== "signing_key_unknown") throw problem;
      else {
        await (await signing()).again(keeping.player);
        if ((await unsigned()) !== null) throw problem;
      }
    }
  }
}

/** Keep which versions were sent here, and the key that signed them. Return the answer. */
async function noted(match, actor, given, key, answer) {
  try {
    const { kept, sdk } = await comparing();
    const entries = answer.entries ?? [{ actor, ...sdk.readReceipt(answer.receipt ?? "") }];
    const versions = entries.filter((entry) => entry.actor === actor && entry.version).slice(0, given.length).map(({ version }) => version);
    await kept.noteSent(match, versions, key);
  } catch (problem) {
    failed(problem);
  }
  return answer;
}

/** Return what is signed besides the action: {match, actor, seen, digest}, or null if the history could not be followed. */
async function moveAt(match, actor, version) {
  const digest = await followed(match, version);
  if (digest) return { match, actor, seen: version, digest };
  // A version from before the first receipt here cannot be signed. The newest one that was followed can.
  const newest = (await comparing()).followed;
  return newest?.match === match && newest.version ? { match, actor, seen: newest.version, digest: newest.digest } : null;
}
