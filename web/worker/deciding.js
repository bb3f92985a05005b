// The worker that decides the actions of a match again: the rules of this server, unchanged, in Python. Nothing is sent anywhere.
//
// It takes the bytes of one file after the other, and answers with {entries, of} while it works, and then with {report} or {problem}.

import { loadPyodide } from "./pyodide.mjs";

const FOLDER = new URL(".", import.meta.url).href;
const RULES = "/rules";
const DECIDE = `
import json, sys
sys.path.insert(0, "${RULES}")
from record.redeciding import NotWhole, decide_again

def decide(file, progress):
    try:
        return json.dumps({"report": decide_again(file.to_bytes(), progress)})
    except NotWhole as reason:
        return json.dumps({"problem": str(reason)})

decide
`;
const OFTEN = 100; // milliseconds between two answers that tell how far it is

async function begin() {
  const [python, rules] = await Promise.all([loadPyodide({ indexURL: FOLDER }), fetch(`${FOLDER}rules.zip`).then((answer) => answer.arrayBuffer())]);
  python.unpackArchive(rules, "zip", { extractDir: RULES });
  return python.runPython(DECIDE);
}

const begun = begin();

onmessage = async ({ data }) => {
  let told = 0;
  const progress = (entries, of) => {
    if (performance.now() - told < OFTEN) return;
    told = performance.now();
    postMessage({ entries, of });
  };
  try {
    const decide = await begun;
    postMessage(JSON.parse(decide(new Uint8Array(data), progress)));
  } catch (error) {
    postMessage({ problem: `Python could not decide the file again: ${error.message.trim().split("\n").at(-1)}` });
  }
};
