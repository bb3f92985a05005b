// A bot that plays any game of Warledger, typed by openapi.yaml alone. examples/README.md says how to build and start it.

import { randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { parseArgs } from "node:util";

import createClient, { type Client } from "openapi-fetch";

import type { components, paths } from "./generated/api.js";

type Schemas = components["schemas"];
type Entry = Extract<Schemas["Entries"], { entries: unknown }>["entries"][number];
type Event = Entry["events"][number];
type Choice = Extract<Schemas["Choices"], { choices: unknown }>["choices"][number];
type Action = Schemas["GameAction"] | Schemas["TableAction"];
type Ended = Extract<Event, { type: "match_ended" }>;

const WAIT = 25; // how many seconds the server may hold a request until there is news
const TRIES = 60; // how often to send a request while the server is busy or away

const NEW_MATCHES = {
  war: { game: "war", seats: { red: "me", blue: "ai:greedy" } },
  war_of_the_worlds: { game: "war_of_the_worlds", seats: { aliens: "me", humans: "ai:greedy" } },
  war_of_civilizations: { game: "war_of_civilizations", seats: { lion: "me", fox: "ai:greedy" } },
} satisfies { [game in Schemas["NewMatch"]["game"]]: Schemas["NewMatch"] & { game: game } };

const isGame = (name: string): name is keyof typeof NEW_MATCHES => name in NEW_MATCHES;

// Answers may have types that came later than this client. This client passes over events of such a type. What is listed can be sent as it is.
const isEnd = (event: Event): event is Ended => event.type === "match_ended";
const isListed = (action: Choice["action"]): action is Action => action.type !== "";

/** A request failed for good. The text is the problem of the server, in a sentence. */
class Failed extends Error {
  constructor(readonly problem: Schemas["Problem"]) {
    super(`${problem.status} ${problem.code}: ${problem.detail}`);
  }
}

/** Repeat a request while the server is busy, limits us or is away. An Idempotency-Key makes this safe for actions. */
async function patiently(request: Request): Promise<Response> {
  for (let left = TRIES; ; left--) {
    let pause = 1;
    try {
      const answer = await fetch(request.clone());
      if ((answer.status !== 429 && answer.status !== 503) || left === 0) return answer;
      pause = Number(answer.headers.get("Retry-After") ?? pause);
    } catch (reason) {
      if (left === 0) throw reason;
    }
    await setTimeout(1000 * pause);
  }
}

/** Return a client with the caller's key, or with the key of a new player. */
async function connect(baseUrl: string, name: string, key = process.env["WARLEDGER_KEY"]): Promise<Client<paths>> {
  const client = createClient<paths>({ baseUrl, fetch: patiently });
  if (key === undefined) {
    const { data, error } = await client.POST("/v1/players", { body: { name } });
    if (error) throw new Failed(error);
    key = data.key;
  }
  const authorization = `Bearer ${key}`;
  client.use({ onRequest: ({ request }) => request.headers.set("Authorization", authorization) });
  return client;
}

/** A player of one match. */
class Bot {
  constructor(private readonly client: Client<paths>, private readonly match: string) {}

  /** Play until the match is over. The choices only change with a new entry. */
  async play(): Promise<Ended> {
    for (let seen = 0; ; ) {
      const entries = await this.entries(seen);
      for (const entry of entries) {
        console.log(`${entry.version} ${entry.actor}: ${entry.action.type}`);
        const events: Event[] = entry.events;
        const ended = events.find(isEnd);
        if (ended) return ended;
        seen = entry.version;
      }
      while (await this.act());
    }
  }

  /** Return the entries after a version. Wait for one if there is none. */
  private async entries(after: number): Promise<Entry[]> {
    const params = { path: { match: this.match }, query: { after, wait: WAIT } };
    const { data, error } = await this.client.GET("/v1/matches/{match}/entries", { params });
    if (error) throw new Failed(error);
    if (!("entries" in data)) throw new Error(`This client does not know the game ${data.game}.`);
    return data.entries;
  }

  /** Carry out one action, or take a seat. Return false if others must act, and true if the choices must be read again. */
  private async act(): Promise<boolean> {
    const path = { match: this.match };
    const { data, error } = await this.client.GET("/v1/matches/{match}/choices", { params: { path } });
    if (error) throw new Failed(error);
    if (!("choices" in data)) throw new Error(`This client does not know the game ${data.game}.`);
    // Choices of the table, such as resigning, are left out, except taking a seat.
    const mine = data.choices.filter(({ action, at_table }) => !at_table || (action.type === "take_seat" && !data.seat));
    const choice = mine[Math.floor(Math.random() * mine.length)];
    if (choice === undefined) return false;
    const body = decide(choice);
    if (!isListed(body)) return false;
    const header = { "If-Match": `"${data.version}"`, "Idempotency-Key": randomUUID() };
    const acted = await this.client.POST("/v1/matches/{match}/actions", { params: { path, header }, body });
    if (acted.data) return "choices" in acted.data && acted.data.choices.some(({ at_table }) => !at_table);
    // 412: something has happened since. 409: somebody took the seat before us. The rules never refuse a listed choice.
    if (acted.error.status !== 412 && acted.error.status !== 409) throw new Failed(acted.error);
    return true;
  }
}

/** Return an action to send. A choice can be sent as it is; `choose` of an open one says what else it may contain: here, a bid. */
function decide({ action, choose }: Choice): Choice["action"] {
  const range = choose?.["ammo"];
  if (action.type !== "bid" || !("ammo" in action) || !Array.isArray(range)) return action;
  const [low = action.ammo, high = low] = range;
  return { ...action, ammo: low + Math.floor(Math.random() * (high - low + 1)) };
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { game: { type: "string", default: "war" }, match: { type: "string" }, name: { type: "string", default: "Ada" } },
});
const client = await connect(positionals[0] ?? "http://127.0.0.1:8000", values.name);
let match = values.match;
if (match === undefined) {
  if (!isGame(values.game)) throw new Error(`There is no game ${values.game}.`);
  const created = await client.POST("/v1/matches", { body: NEW_MATCHES[values.game] });
  if (created.error) throw new Failed(created.error);
  match = created.data.id;
  console.log(`match ${match}`);
}
const ended = await new Bot(client, match).play();
console.log(`won by ${ended.winners.join(" and ")}: ${ended.reason}`);
