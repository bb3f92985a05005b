// web/static/checking.js: what is said of the reports of the rules, and how a worker is spoken to.

import assert from "node:assert/strict";
import { test } from "node:test";

import { decided, failing, inOne, ruling } from "../../web/static/checking.js";

const report = (members) => ({ match: "m1", versions: 5, replayed_only: 0, findings: [], ...members });
const found = (version, code) => ({ version, code, detail: `About ${code}.` });
const said = (...reports) => ruling({ ...inOne(reports), reports });

test("the first version that the rules decide otherwise is named, whatever else is wrong before it", () => {
  assert.equal(said(report()), "The rules decide every action as it stands: 5 entries.");
  assert.equal(said(report({ replayed_only: 2 })), "The rules decide no action otherwise: 5 entries, of which 2 were only replayed.");
  const findings = [found(2, "digest_broken"), found(3, "not_legal"), found(4, "events_differ")];
  assert.equal(said(report({ findings })), "Version 3 is the first that the rules decide otherwise: About not_legal.");
  assert.equal(said(report({ findings: [found(2, "digest_broken")] })), "Version 2 is the first that fails: About digest_broken.");
  const both = [report(), report({ match: "m2", findings })];
  assert.equal(said(...both), "Version 3 is the first that the rules decide otherwise in file 2: About not_legal.");
  assert.deepEqual(failing(inOne(both), "m2"), [2, 3, 4]);
  assert.deepEqual(failing(inOne(both), "m1"), []);
});

test("a worker decides one file after the other, tells how far it is, and is ended", async () => {
  const log = [];
  globalThis.Worker = class {
    constructor(address, { type }) {
      log.push([address, type]);
    }
    postMessage(bytes) {
      const text = new TextDecoder().decode(bytes);
      const answers = text === "bad" ? [{ problem: "It is not whole." }] : [{ entries: 1, of: 5 }, { report: report({ match: text }) }];
      for (const data of answers) this.onmessage({ data });
    }
    terminate() {
      log.push("ended");
    }
  };
  const told = [];
  const files = (...texts) => texts.map((text) => new Blob([text]));
  const signal = new AbortController().signal;
  const answer = await decided("/deciding.js", files("m1", "m2"), (far) => told.push(far), signal);
  assert.deepEqual(answer.files, [{ match: "m1", versions: 5 }, { match: "m2", versions: 5 }]);
  assert.deepEqual(told, [{ entries: 1, of: 5 }, { entries: 1, of: 5 }]);
  await assert.rejects(decided("/deciding.js", files("bad"), () => {}, signal), { message: "It is not whole." });
  assert.deepEqual(log, [["/deciding.js", "module"], "ended", ["/deciding.js", "module"], "ended"]);
  await assert.rejects(decided("/deciding.js", files("m1"), () => {}, AbortSignal.abort()), { name: "AbortError" });
  assert.equal(log.length, 4);
});
