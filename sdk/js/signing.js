// Signatures of a player over moves (docs/auditing.md). WebCrypto keeps the key: pages have it over https and on localhost.

import { base64, canonical, decoded } from "./canonical.js";

const NAME = "Ed25519";

/** Whether an error says that there is no Ed25519, or no WebCrypto at all. */
const isMissing = (reason) => reason.name === "NotSupportedError" || reason instanceof TypeError;

/**
 * Make a key: {publicKey, privateKey}, the public one in base64 and the private one as a CryptoKey, which IndexedDB keeps as it is.
 *
 * `extractable`: whether programs may read the private key. Return null where WebCrypto has no Ed25519.
 */
export async function newKey(extractable = false) {
  try {
    const { publicKey, privateKey } = await crypto.subtle.generateKey({ name: NAME }, extractable, ["sign", "verify"]);
    return { publicKey: base64(await crypto.subtle.exportKey("raw", publicKey)), privateKey };
  } catch (reason) {
    if (isMissing(reason)) return null;
    throw reason;
  }
}

/** Return the signature of a key over a text, in base64. */
export const signText = async ({ privateKey }, text) => base64(await crypto.subtle.sign({ name: NAME }, privateKey, new TextEncoder().encode(text)));

/** Return what a key signs to be registered for a player: it shows that whoever registers the key has it. */
export const registrationText = (player, publicKey) => `warledger.org/signing-key/v1\n${player}\n${publicKey}\n`;

const UNSIGNED = ["take_seat", "decline_seat", "leave_seat", "close_match", "rematch"]; // before the start, or in another match
const BY_PLAYER = ["take_over", "take_dispute", "rule_dispute"]; // their actor is the id of the player, and no seat

/** Return who signs an action of this type: the player, else the seat; null if it is not signed. */
export function actorOf(type, seat, player) {
  if (UNSIGNED.includes(type)) return null;
  return BY_PLAYER.includes(type) ? player : seat;
}

/** Return an action as the rules admit it: without counts of 0. What is signed and sent has this form. */
export const recorded = (action) => Object.fromEntries(Object.entries(action).map(([name, value]) => [name, withoutZeros(value)]));

function withoutZeros(value) {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([, count]) => count !== 0));
}

/**
 * Return what a player signs for an action.
 *
 * `actor`: the seat, or for actions of the table that players carry out the player. `seen`, `digest`: the version at which it was decided,
 * and its digest. `place`, `count`: the action is the place-th of so many in one request, from 1. `action`: as `recorded` returns it.
 */
export const moveStatement = ({ match, actor, seen, digest, place = 1, count = 1 }, action) =>
  ["warledger.org/move/v1", match, actor, seen, digest, `${place}/${count}`, canonical(action), ""].join("\n");

/** Return the signature of a key over one action, in base64. `move`: as for `moveStatement`. */
export const signMove = (key, move, action) => signText(key, moveStatement(move, action));

/** Return the value of the header `Warledger-Signature` for the signatures of a request, one for each action. */
export const headerOf = (publicKey, { seen, digest }, signatures) =>
  `key=:${publicKey}:, seen=${seen}, digest="${digest}", signatures=(${signatures.map((signature) => `:${signature}:`).join(" ")})`;

/** Return whether an Ed25519 signature is right. Where WebCrypto has no Ed25519 it is taken as right. */
export async function verifies(publicKey, text, signature) {
  let key;
  try {
    key = await crypto.subtle.importKey("raw", publicKey, { name: NAME }, false, ["verify"]);
  } catch (reason) {
    return isMissing(reason);
  }
  return crypto.subtle.verify({ name: NAME }, key, signature, new TextEncoder().encode(text));
}

/** Return whether the member `signed` of an entry holds a right signature over a move. */
export const isSigned = (move, action, { key, signature }) => verifies(decoded(key), moveStatement(move, action), decoded(signature));

/** Sign the actions of one request, which have the form of `recorded`. Return the value of the header `Warledger-Signature`. */
export async function signed(key, move, actions) {
  const count = actions.length;
  return headerOf(key.publicKey, move, await Promise.all(actions.map((action, at) => signMove(key, { ...move, place: at + 1, count }, action))));
}
