// Moves of a player's seats that this browser has not sent: which of them nobody honest can explain, and what is said of the others.

import { Disagreement } from "./comparing.js";
import { t } from "./language.js";

const LISTED = "/v1/players/me/signing-keys";
const FULL = 100; // keys in the list of a player: beyond them the oldest revoked ones are left out
const MINUTE = 60_000; // entries and keys may come from two machines
const NAMED = 5; // versions that are named, and entries that are in the file
const BEFORE = { seat_substituted: false, seat_returned: true, seat_resigned: null, seat_forfeited: null, seat_handed_over: null }; // was it substituted?

/**
 * Return the entries of a player's seats that this browser has not sent, in their order: [{entry, own, alone}]. `own`: whether the seat surely
 * was the player's; `alone`: whether surely no artificial player stood in. What one of those has done, or who had the seat before, is left out.
 *
 * It goes back from how the match stands, since the entries may begin where a seat was already handed over or substituted. `walked`: the
 * entries, without a gap. `sent`: by version the key with which this browser has signed, or "". `key`: the one with which it signs now.
 */
export function foreign({ standing, player, walked, sent, key }) {
  const isOwn = ({ signed }) => signed && signed.key === key && signed.seen >= walked[0].version - 1; // else the signature was not checked
  const isOurs = (entry) => "leaf" in entry.proof.signed || (sent.has(entry.version) ? sent.get(entry.version) === (entry.signed?.key ?? "") : isOwn(entry));
  const found = [];
  for (const [seat, who] of Object.entries(standing.seats)) {
    let own = who.player === player;
    let substituted = seat in (standing.substitutes ?? {});
    let known = own;
    let held = [];
    const close = () => {
      if (known) found.push(...held);
      [known, own, held] = [false, false, []];
    };
    for (const entry of walked.toReversed()) {
      for (const { type, seat: whose } of entry.events.toReversed()) {
        if (whose !== seat || !(type in BEFORE)) continue;
        if (type === "seat_handed_over") close();
        substituted = BEFORE[type];
      }
      if (entry.actor !== seat) continue;
      known ||= isOwn(entry);
      if (!isOurs(entry) && (entry.signed || !substituted)) held.push({ entry, own, alone: substituted === false });
    }
    close();
  }
  return found.sort((one, other) => one.entry.version - other.entry.version);
}

/**
 * Return what is said of such moves, {sentence, accused}, or null if there is none. Whether they are somebody else's is for the player to say;
 * `accused` then returns the Disagreement. Throw Disagreement where the server contradicts itself. `here`: a Comparing.
 */
export async function judged({ here, standing, player, walked, sent }) {
  const { publicKey: key = null } = (await here.storage.get("signing", player)) ?? {};
  const all = foreign({ standing, player, walked, sent, key });
  if (!all.length) return null;
  const json = async (path) => (await here.ask(path)).json();

  async function disagreement(sentence, odd, title) {
    const versions = new Set(odd.flatMap(({ entry: { version } }) => [version - 1, version]));
    const receipts = await Promise.all([...versions].map((version) => json(`/v1/matches/${standing.id}/receipts/${version}`).catch(() => ({}))));
    const notes = receipts.map(({ receipt }) => receipt).filter(Boolean);
    return new Disagreement(sentence, { match: standing.id, keys: await here.receipts.keys(), receipts: notes, entries: odd.map(({ entry }) => entry) }, title);
  }

  const changed = all.find(({ entry }) => sent.has(entry.version));
  if (changed) throw await disagreement(t("The server shows your move of version {version} with another signature than this browser has sent, or with none.", changed.entry), [changed]);
  const bare = standing.signed === "required" && all.find(({ entry, own, alone }) => own && alone && !entry.signed);
  if (bare) throw await disagreement(t("Moves of this match must be signed, but version {version} of your seat is not.", bare.entry), [bare]);
  const signed = all.filter(({ entry, own }) => own && entry.signed);
  const keys = signed.length ? (await json(LISTED).catch(() => ({}))).keys : undefined;
  const isNone = ({ at, signed: { key: used } }) => {
    const listed = keys.find((one) => one.key === used);
    return listed ? listed.revoked !== null && at > listed.revoked + MINUTE : keys.length < FULL;
  };
  const strange = keys && signed.find(({ entry }) => isNone(entry));
  if (strange) throw await disagreement(t("Version {version} of your seat has the signature of a key that, as the server itself says, was not yours.", strange.entry), [strange]);
  const named = all.slice(0, NAMED);
  const versions = `${named.map(({ entry }) => entry.version).join(", ")}${all.length > NAMED ? " …" : ""}`;
  const counted = t.n("{count} move of your seats was not sent by this browser (version {versions}).", "{count} moves of your seats were not sent by this browser (versions {versions}).", all.length, { versions });
  const sentence = `${counted} ${t("That is usual if you also play elsewhere, or if this browser has lost what it kept.")}`;
  return { sentence, accused: () => disagreement(counted, named, t("Moves in your name that you did not make")) };
}
