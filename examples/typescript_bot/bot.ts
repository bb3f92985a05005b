// A bot that plays any game of Warledger, in strict TypeScript over warledger-client. examples/README.md says how to build and start it.

import { parseArgs } from "node:util";

import { Client, type Match } from "warledger-client";
import { Folder } from "warledger-client/folder";
import type { Choice, Event, MatchEndedEvent } from "warledger-client/types";

const NEW_MATCHES = {
  war: (client: Client) => client.create("war", { red: "me", blue: "ai:greedy" }),
  war_of_the_worlds: (client: Client) => client.create("war_of_the_worlds", { aliens: "me", humans: "ai:greedy" }),
  war_of_civilizations: (client: Client) => client.create("war_of_civilizations", { lion: "me", fox: "ai:greedy" }),
};

const isGame = (name: string): name is keyof typeof NEW_MATCHES => name in NEW_MATCHES;
const isEnd = (event: Event): event is MatchEndedEvent => event.type === "match_ended";

/** Return the action of a choice, which can be sent as it is. `choose` of an open one says what else it may contain: here, a bid. */
function decide({ action, choose }: Choice) {
  const range = choose?.["ammo"];
  if (action.type !== "bid" || !Array.isArray(range)) return action;
  const [low = 0, high = low] = range;
  return { ...action, ammo: low + Math.floor(Math.random() * (high - low + 1)) };
}

/** Take the first open seat. */
async function takeSeat(match: Match): Promise<void> {
  const { seat, choices } = await match.choices();
  if (seat !== null) return;
  for (const { action } of choices) {
    if (action.type === "take_seat" && "seat" in action && action.seat !== undefined) {
      await match.join(action.seat);
      return;
    }
  }
}

/** Print each entry as it comes. Return how the match ended. */
async function watch(match: Match, check: boolean): Promise<MatchEndedEvent | undefined> {
  let ended: MatchEndedEvent | undefined;
  for await (const entry of match.stream({ check })) {
    console.log(`${entry.version} ${entry.actor}: ${entry.action.type}`);
    const events: Event[] = entry.events;
    ended ??= events.find(isEnd);
  }
  return ended;
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    game: { type: "string", default: "war" },
    match: { type: "string" },
    name: { type: "string", default: "Ada" },
    receipts: { type: "string" },
    unchecked: { type: "boolean", default: false }, // leave the chain of digests unchecked, and sign nothing
  },
});
const key = process.env["WARLEDGER_KEY"] ?? null;
const kept = values.receipts === undefined ? {} : { receipts: new Folder(values.receipts) };
const client = new Client(positionals[0] ?? "http://127.0.0.1:8000", { key, sign: !values.unchecked, ...kept });
if (key === null) await client.register(values.name);
if (!isGame(values.game)) throw new Error(`There is no game ${values.game}.`);
const match = values.match === undefined ? await NEW_MATCHES[values.game](client) : client.match(values.match);
console.log(`match ${match.id}`);
await takeSeat(match);
const check = !values.unchecked;
const watched = watch(match, check);
await match.play(
  ({ choices }) => {
    const choice = choices[Math.floor(Math.random() * choices.length)];
    return choice && decide(choice);
  },
  { check },
);
const ended = await watched;
console.log(`won by ${ended?.winners.join(" and ")}: ${ended?.reason}`);
