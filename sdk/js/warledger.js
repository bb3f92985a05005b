// A client of Warledger, the service for board games whose matches can be replayed and audited. README.md shows how to begin.

export { canonical } from "./canonical.js";
export { Client } from "./client.js";
export { Evidence, digestOf } from "./evidence.js";
export { Match, Turn, inTheGame } from "./matches.js";
export {
  Alarm, BadReceipt, BrokenChain, Conflict, Forbidden, Limited, Malformed, NotFound, Problem, Refused, Stale, TwoHistories, TwoLogs,
  Unauthorized, Unavailable, Unreachable, WarledgerError,
} from "./problems.js";
export { Database, Memory, Receipts, WebStorage } from "./receipts.js";
