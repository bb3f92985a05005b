/** A key of a player: the public one, 32 bytes in base64, and the private one, which IndexedDB keeps as it is. */
export interface Key {
  publicKey: string;
  privateKey: CryptoKey;
}

/** What a request of actions says of itself. */
export interface Move {
  match: string;
  /** The seat, or for actions of the table that players carry out the player. */
  actor: string;
  /** The version at which it was decided. */
  seen: number;
  /** The digest of that version, 64 hex digits. */
  digest: string;
}

/** Make a key. `extractable`: whether programs may read the private one. Return null where WebCrypto has no Ed25519. */
export function newKey(extractable?: boolean): Promise<Key | null>;
/** Return the signature of a key over a text, in base64. */
export function signText(key: Key, text: string): Promise<string>;
/** Return what a key signs to be registered for a player. */
export function registrationText(player: string, publicKey: string): string;
/** Return who signs an action of this type: the player, else the seat; null if it is not signed. */
export function actorOf<S>(type: string, seat: S, player: string): S | string | null;
/** Return an action as the rules admit it: without counts of 0. What is signed and sent has this form. */
export function recorded<A extends object>(action: A): A;
/** Return what a player signs for an action. `place` of `count`: where it stands in the request, from 1. */
export function moveStatement(move: Move & { place?: number; count?: number }, action: object): string;
/** Return the signature of a key over one action, in base64. */
export function signMove(key: Key, move: Move & { place?: number; count?: number }, action: object): Promise<string>;
/** Return the value of the header `Warledger-Signature` for the signatures of a request, one for each action. */
export function headerOf(publicKey: string, move: Pick<Move, "seen" | "digest">, signatures: readonly string[]): string;
/** Sign the actions of one request. Return the value of the header `Warledger-Signature`. */
export function signed(key: Key, move: Move, actions: readonly object[]): Promise<string>;
