// What this package offers. README.md shows how to begin; types.d.ts has the types of requests and answers.

import type {
  Choice, Choices, Entry, Event, Fork, Frame, Game, GameInBrief, Match as Standing, NewMatch, NewPlayer, Notice, Outcome, Played, Player,
  Problem as Body, Profile, Rule, Standing as Listed, State, Tried,
} from "./types.js";
import type { Key } from "./signing.js";

export type { Key };

/** An action of a game or of the table, as `choices` lists them. */
export type Action = { type: string } & object;

/** What to do: a choice, an action, or a list of them: all are carried out, or none. */
export type Deed = Action | Choice | readonly (Action | Choice)[];

type Told<K> = { kind: K; id: string; data: Extract<Notice, { type: K }> };

/** An event of a player's stream: its kind, such as `turn`, its id, from which a stream resumes, and the notice. */
export type News = { [K in Notice["type"]]: Told<K> }[Notice["type"]] | { kind: "ready"; id: string; data: { [name: string]: unknown } };

/** Where lines of text are kept, such as receipts. */
export interface Store {
  /** Return the lines under a name, in the order in which they came. */
  lines(name: string): Promise<string[]>;
  /** Add a line under a name. */
  append(name: string, line: string): Promise<void>;
  /**
   * Return the key with which a player signs. Make one if there is none, or if it is one of those that are revoked. Stores that cannot keep a
   * secret lack this.
   */
  signingKey?(player: string, revoked?: readonly string[]): Promise<Key | null>;
  /** Return what people call the place of a name. */
  where?(name: string): string | Promise<string>;
}

export interface Settings {
  /** The key of a player. `register` makes a player. */
  key?: string | null;
  /** For how many seconds a request is sent again while the server is away, busy (503) or limits the player (429). Default: 120. */
  patience?: number;
  /** Seconds to wait for an answer. Default: 60. */
  timeout?: number;
  /**
   * Where to keep what the server signs, and the key with which moves are signed. Default: under Node and Deno a folder for each server in
   * `~/.warledger`, in a browser its IndexedDB. null: nothing is kept or signed.
   */
  receipts?: Store | Receipts | null;
  /** Whether to sign moves. Default: true. */
  sign?: boolean;
  /** What to do with a warning. Default: `console.warn`. */
  tell?: (sentence: string) => void;
  /** In place of the global `fetch`. */
  fetch?: (url: string, init: RequestInit) => Promise<Response>;
}

export interface Sent {
  query?: Query;
  /** The body, which is sent as JSON. */
  body?: unknown;
  headers?: Record<string, string>;
  /**
   * Whether it may be sent again if it is unknown whether it was carried out. By default these are requests that read, and those with an
   * `Idempotency-Key`.
   */
  repeatable?: boolean;
  signal?: AbortSignal;
}

export type Query = { [name: string]: string | number | boolean | null | undefined };

type Created<G> = Extract<NewMatch, { game: G }>;
type More<G> = Omit<Created<G>, "game" | "seats">;

/**
 * Calls to one server, as one player or as nobody.
 *
 * A request is sent again for as long as `patience` says, after as many seconds as `Retry-After` names. Whatever creates something is sent
 * with the same `Idempotency-Key`, so it is carried out once.
 */
export class Client {
  constructor(url: string | URL, settings?: Settings);
  readonly url: string;
  key: string | null;
  patience: number;
  timeout: number;
  sign: boolean;
  tell: (sentence: string) => void;
  readonly receipts: Receipts | null;

  /** Return who signs moves; null if they are not signed. The key is made, kept and registered when it is needed first. */
  signer(): Promise<{ player: string; key: Key } | null>;
  /**
   * Compare the newest checkpoint of the server's log with the one kept, and its list of your signing keys with your own. `turns` and
   * `stream` do this when they begin and when the match is over. Throw an Alarm.
   */
  compare(): Promise<void>;
  /** Note the keys that the server publishes if none is known that a note names. */
  know(note: string): Promise<void>;

  /** Create a player, and go on as that player. `key` of the answer is the only copy of the key. */
  register(name: string): Promise<NewPlayer>;
  /** Return the player of the key, and what the key may do. */
  me(): Promise<Player>;
  /** Return the public profile of a player. */
  player(player: string): Promise<Profile>;
  /** Return the games of the server. */
  games(): Promise<GameInBrief[]>;
  /** Return a game: seats, options, levels of artificial players, refusals. */
  game(game: string): Promise<Game>;
  /** Return the text of a rule, such as the `rule` of a refusal. */
  rule(game: string, rule: string): Promise<Rule>;
  /**
   * Yield what happens in all matches of the player, without end. `after`: the id of an event, to resume from there. `created`: what any
   * player is told, in all matches that this one has created.
   *
   * Connections that are cut are opened again where they ended. An event may come twice; none is lost.
   */
  news(options?: { after?: string; created?: boolean; signal?: AbortSignal }): AsyncGenerator<News, void>;

  /** Return a match by its id. This sends nothing. */
  match(match: string): Match;
  /** Yield the matches that a query finds, page by page: `game`, `status`, `player: "me"`, `to_act: "me"` and others. */
  matches(query?: Query): AsyncGenerator<Listed, void>;
  /**
   * Create a match. `seats`: who takes which: `me`, `open`, `ai:<level>`, `player:<id>`.
   *
   * `settings`: `options`, `clock`, `time_out`, `order`, `spectators`, `code` and others.
   */
  create<G extends NewMatch["game"]>(game: G, seats: Created<G>["seats"], settings?: More<G>): Promise<Match>;
  /** Create a practice match from a version of a match that is over. */
  practise(match: string, version: number, settings?: Omit<Fork, "fork_of" | "at">): Promise<Match>;

  /** Return the JSON at a path. */
  get(path: string, query?: Query, options?: { signal?: AbortSignal }): Promise<any>;
  /** Return the text at a path, in the media type `accept`. */
  text(path: string, accept: string, query?: Query): Promise<string>;
  /** Return the JSON that answers a body. The request has an `Idempotency-Key`. */
  post(path: string, body?: unknown, sent?: Omit<Sent, "body">): Promise<any>;
  /** Yield the members of a long list, page by page. `items`: the name of the list in the answer. */
  pages(path: string, items: string, query?: Query): AsyncGenerator<any, void>;
  /** Send a request, again and again while it may succeed. Return the response. Throw a Problem, or Unreachable. */
  request(method: string, path: string, sent?: Sent): Promise<Response>;
  /** Yield the events of a stream, and connect again where it ends, until the answer is 204. */
  events(path: string, sent?: Omit<Sent, "body" | "repeatable">): AsyncGenerator<{ id?: string; event: string; data: string }, void>;
}

export interface View {
  version?: number;
  /** A seat, `spectator` or `auditor`. Default: as you see it. */
  viewer?: string;
}

export interface Following {
  after?: number;
  viewer?: string;
  /**
   * Whether to check the chain of digests. The entries before `after` are then read and checked, too. Default: where there is WebCrypto, which
   * pages have over https and on localhost. Who signs moves reads it all the same.
   */
  check?: boolean;
  signal?: AbortSignal;
}

export interface Playing {
  /** One of several seats of yours. */
  seat?: string;
  /** As for `stream`. */
  check?: boolean;
  signal?: AbortSignal;
}

/** A match, as the player of a client sees it. */
export class Match {
  constructor(client: Client, id: string);
  readonly client: Client;
  readonly id: string;
  readonly path: string;
  /** What the server has said of the match so far. `stream`, `fold`, `turns` and `play` check each entry against it, from version 1 on. */
  readonly evidence: Evidence;
  /** The standing as it was read last. */
  last: Standing | null;
  /** Who has won and why, as it was when the standing was read last; null before the end. */
  readonly outcome: Outcome | null;

  /** Return the standing: `status`, `to_act`, `seats`, `clocks`, `outcome` and others. */
  standing(): Promise<Standing>;
  /** Keep a standing as the last one, and its receipt. */
  note(standing: Standing): Promise<void>;
  /** Take a seat. `contribution`: 1 to 64 bytes in hex that go into the dice. */
  join(seat: string, options?: { code?: string; contribution?: string }): Promise<Standing>;

  /** Return the position. */
  state(view?: View): Promise<State>;
  /** Return the board as text. */
  board(view?: View): Promise<string>;
  /** Return the board as SVG. */
  picture(view?: View & { shape?: "wide" | "tall" | "board"; theme?: "light" | "dark" }): Promise<string>;
  /** Return what you may do now, in the game and at the table. */
  choices(options?: { seat?: string; signal?: AbortSignal }): Promise<Choices>;
  /** Yield the entries that there are after a version, page by page. */
  entries(options?: { after?: number; viewer?: string; proof?: boolean }): AsyncGenerator<Entry, void>;
  /** Yield the frames that there are after a version: what changed in the picture, and each entry in sentences. `key: false`: no keyframe. */
  frames(options?: { after?: number; viewer?: string; shape?: "wide" | "tall" | "page"; key?: boolean }): AsyncGenerator<Frame, void>;
  /** Yield the entries after a version as they come, until the match is over: each once, in order, over any number of connections. */
  stream(options?: Following): AsyncGenerator<Entry, void>;
  /** Follow the match with a state of your own: yield it after each entry. `step` returns the next state. */
  fold<S>(step: (state: S, event: Event, entry: Entry) => S, state: S, options?: Following): AsyncGenerator<[S, Entry], void>;
  /** Return the signed receipt of a version, and keep it. */
  receipt(version: number): Promise<string>;
  /** Keep a receipt, and compare it with what the server has said before. Throw an Alarm. */
  keep(note: string): Promise<void>;
  /** Return the signed file with all that you may know of the match, for `warledger verify` and `verify.mjs`. */
  dossier(options?: { viewer?: string }): Promise<string>;

  /**
   * Carry out an action, or a list of them, signed. Return what followed, and your next choices.
   *
   * `version`: act only at this version, else throw Stale. `request`: an id of your own, with which you may repeat the call later.
   */
  act(action: Deed, options?: { version?: number; seat?: string; request?: string }): Promise<Played>;
  /** Try actions without playing them. Return the position and the choices after them. */
  plan(action: Deed, options?: { version?: number; seat?: string }): Promise<Tried>;
  /** Ask for the same match again, after the end. Return the new match; everybody who asks gets the same one. */
  rematch(): Promise<Match>;
  /**
   * Yield a turn whenever you must decide, until the match is over. A seat that a substitute plays is taken back first.
   *
   * After a turn in which you do nothing, the next one comes with the next entry.
   */
  turns(options?: Playing): AsyncGenerator<Turn, void>;
  /**
   * Check the chain to its end, keep the receipt of the newest version, and compare the server's log. `turns` does this when the match is
   * over. Throw an Alarm.
   */
  finish(options?: { check?: boolean }): Promise<void>;
  /** Play until the match is over: `decide` returns what to do in a turn, or nothing. Return the last standing. */
  play(decide: (turn: Turn) => Deed | null | undefined | void | Promise<Deed | null | undefined | void>, options?: Playing): Promise<Standing>;
}

/** A decision of a seat of yours. */
export class Turn {
  readonly match: Match;
  readonly version: number;
  /** Who decides. */
  readonly seat: string | null;
  /** Every legal choice in the game. */
  readonly choices: Choice[];
  /** The answer to your action, or null. */
  played: Played | null;
  /** Why the action was refused as impossible now, or null. */
  refused: Stale | Conflict | null;

  /** Act if the match is still at this version. Return null if it is not possible now; then the turn comes again, if it is still yours. */
  act(action: Deed): Promise<Played | null>;
  /** Return the position as the seat sees it. */
  state(): Promise<State>;
}

/** Return the choices of the game, without those of the table, such as resigning. */
export function inTheGame<C extends { at_table?: true }>(choices: readonly C[]): C[];

/** The chain of a match as far as it was checked, and its receipts (docs/auditing.md). */
export class Evidence {
  constructor(match: string, receipts?: Receipts | null);
  readonly match: string;
  /** The last version that was checked; 0 at first. */
  readonly version: number;
  /** The digest of that version. */
  readonly digest: string;
  /** Return the digest of a version that was checked, or undefined. */
  digestAt(version: number): string | undefined;
  /** Return the receipts that were kept, by version. */
  kept(): Promise<string[]>;
  /** Return the receipt that was kept of a version, or undefined. */
  receiptAt(version: number): Promise<string | undefined>;
  /** Begin with the version of a receipt: entries before it are not checked, nor signatures of who saw only those. */
  begin(note: string): void;
  /** Check the next entry, or one that comes again. It has its proof. Throw BrokenChain or TwoHistories. */
  entry(entry: Entry): Promise<void>;
  /** Keep a receipt that the server has just given. Throw TwoHistories or BadReceipt. */
  receipt(note: string): Promise<void>;
}

/** Return the canonical JSON of a value (RFC 8785). */
export function canonical(value: unknown): string;
/** Return the digest of an entry with its proof, after the digest of the entry before; that of version 1 follows 64 zeros. */
export function digestOf(previous: string, match: string, entry: Entry): Promise<string>;

/** The receipts in a store, and the keys of the server. */
export class Receipts {
  /**
   * `keys`: keys of the server that you have noted (vkeys). Without them the store notes the keys that the server publishes when it gives its
   * first receipt, and later ones as they come. Where WebCrypto has no Ed25519, signatures are taken as right.
   */
  constructor(store?: Store, keys?: readonly string[]);
  readonly store: Store;
  /** Return the keys that are trusted. */
  keys(): Promise<readonly string[]>;
  /** Note keys that the server publishes, unless keys were given. */
  note(published: readonly string[]): Promise<void>;
  /** Return whether a line of a note names a key that is trusted. */
  knows(note: string): Promise<boolean>;
  /** Return the receipts of a match by version. Throw TwoHistories if two of them differ. */
  of(match: string): Promise<Map<number, string>>;
  /** Check the signature of a receipt, and append it to those of its match. Throw BadReceipt. */
  keep(note: string): Promise<void>;
  /** Return whether a key of the server that is trusted has signed a note. */
  isSigned(note: string): Promise<boolean>;
  /** Return the newest checkpoint that was kept of a log, by default of any, or undefined. */
  checkpoint(origin?: string): Promise<string | undefined>;
  /** Keep a checkpoint as the newest one. */
  keepCheckpoint(note: string): Promise<void>;
  /** Return the key with which a player signs, or null if the store has none. A key that is revoked makes way for a new one. */
  signingKey(player: string, revoked?: readonly string[]): Promise<Key | null>;
  /** Keep what an alarm has, with the keys of the server, under a name of its own. Its message then says where. */
  save(alarm: Alarm, more?: object): Promise<void>;
}

/** A store that lasts as long as the program. */
export class Memory implements Store {
  lines(name: string): Promise<string[]>;
  append(name: string, line: string): Promise<void>;
}

/** A store in a `localStorage` or `sessionStorage`, for a few matches: browsers keep about five megabytes. */
export class WebStorage implements Store {
  constructor(storage?: Storage, prefix?: string);
  lines(name: string): Promise<string[]>;
  append(name: string, line: string): Promise<void>;
}

/** A store in an IndexedDB of the browser. No program can read the signing keys in it. */
export class Database implements Store {
  constructor(name?: string);
  lines(name: string): Promise<string[]>;
  append(name: string, line: string): Promise<void>;
  signingKey(player: string, revoked?: readonly string[]): Promise<Key | null>;
}

/** Whatever this package throws. */
export class WarledgerError extends Error {}

/** The server did not answer in time. A request that creates something may have been carried out. */
export class Unreachable extends WarledgerError {}

/** The server answered with an error. `message` is the status, the code, and a sentence for people. */
export class Problem extends WarledgerError {
  readonly status: number;
  /** The whole problem+json (RFC 9457). */
  readonly problem: Partial<Body>;
  readonly headers: Headers;
  /** The code, which is stable. */
  readonly code: string;
  /** The sentence. */
  readonly detail: string;
  /** Where the rules of a game or of the table refuse: the id of the rule, or null. */
  readonly rule: string | null;
  /** What the sentence is about. */
  readonly facts: { [name: string]: unknown };
  readonly game: string | null;
  /** Where a list of actions was refused: the place of the refused one, from 0. */
  readonly place: number | null;
  /** How many seconds the server asks to wait, or null. */
  readonly retryAfter: number | null;
}

/** 400, 413 to 415, 431: the request has the wrong form. */
export class Malformed extends Problem {
  /** The places that are wrong. */
  readonly errors: { where: string; what: string }[];
}

/** 401: there is no key, or no player has it. */
export class Unauthorized extends Problem {}

/** 403: this player, or this key, may not do that. */
export class Forbidden extends Problem {}

/** 404: there is no such thing. */
export class NotFound extends Problem {}

/** 409: this is not possible now. */
export class Conflict extends Problem {}

/** 412: the match has moved on. */
export class Stale extends Problem {
  /** The present version of the match. */
  readonly version: number;
}

/** 422: the rules do not allow it. `rule` is the id of the rule, `detail` the sentence. */
export class Refused extends Problem {}

/** 429: a limit is used up, and waiting for it would take longer than the client's patience. Nothing was carried out. */
export class Limited extends Problem {
  /** The name of the limit, as in `GET /v1/limits`. */
  readonly limit: string;
}

/** 5xx: the server could not answer, for longer than the client's patience. It may have carried the request out. */
export class Unavailable extends Problem {}

/** The server has contradicted itself. What the error has is evidence. */
export class Alarm extends WarledgerError {
  readonly match: string;
  readonly version: number;
  readonly sentence: string;
  /** Where it was saved, or null. */
  readonly file: string | null;
}

/** An entry does not follow from those before it. */
export class BrokenChain extends Alarm {
  /** What the server has sent. */
  readonly entry: Entry;
  /** The digest that follows, or null. */
  readonly expected: string | null;
}

/** The server has said one thing about a version of a match and now says another. */
export class TwoHistories extends Alarm {
  /** The older receipt, or the digest of the entry that was shown. */
  readonly kept: string;
  /** The receipt that differs, or, where an entry differs, the digest of that entry. */
  readonly received: string;
}

/** The server's log of all matches does not continue the log that it was. */
export class TwoLogs extends Alarm {
  /** The older checkpoint. */
  readonly kept: string;
  /** The other one. */
  readonly received: string;
  /** The proof of consistency that should lead from one to the other, in base64. */
  readonly hashes: string[];
}

/** A receipt is for something else, or no key of the server has signed it. */
export class BadReceipt extends Alarm {
  /** Its text. */
  readonly receipt: string;
}
