// Where there is no WebCrypto, as on a page that did not come over https: all but signatures is checked, and the answer says so.

import assert from "node:assert/strict";
import { test } from "node:test";

import { SERVER, file, lines, match } from "./making.mjs";

test("without WebCrypto the answer says that signatures were not checked, and all else is", async () => {
  const honest = file(lines(match()));
  Object.defineProperty(globalThis, "crypto", { value: {} });
  const { verify } = await import("../../verify/verify.mjs");
  const { ok, checked, unchecked } = await verify(honest, { keys: [SERVER.vkey] });
  assert.ok(ok);
  assert.deepEqual([checked.digests, checked.rolls, checked.leaves, checked.receipts, checked.signatures], [7, 6, 3, 1, 0]);
  assert.ok(unchecked.some((sentence) => sentence.startsWith("Signatures: there is no WebCrypto")));
  const { findings } = await verify(Buffer.from(honest.toString().replace("bad_action", "bad_actiom")), { keys: [SERVER.vkey] });
  assert.deepEqual(
    findings.map(({ code }) => code),
    ["signature_broken"], // the hash of the lines is in the note, whoever has signed it
  );
});
