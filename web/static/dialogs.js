// Questions of the page. Each opens a dialog, and waits until it is closed.

import { make } from "./site.js";

/** Ask for a text. Return it without blanks around it, or null if none is given. `about`: a sentence below the question. */
export async function askText(question, { about = null, long = false, send = "Send", ...input } = {}) {
  const field = make(long ? "textarea" : "input", { name: "text", required: true, autofocus: true, ...(long && { rows: 4 }), ...input });
  if (input.value !== undefined) field.value = input.value;
  const data = await opened(question, make("label", {}, about ?? "Your answer", field), send);
  return data?.get("text").trim() || null;
}

/** Ask whether the player is sure. `yes`: the words of the button that does it. */
export const isSure = async (question, yes) => (await opened(question, null, yes)) !== null;

/** Open a dialog with a form. Return what it holds when it is sent, or null when it is closed. */
function opened(question, content, send) {
  const cancel = make("button", { type: "button", class: "quiet", onclick: () => dialog.close() }, "Cancel");
  const form = make("form", { method: "dialog" }, content, make("p", { class: "row end" }, cancel, make("button", { class: "first", value: "sent" }, send)));
  const dialog = make("dialog", { "aria-labelledby": "question" }, make("h2", { id: "question" }, question), form);
  document.body.append(dialog);
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.onclose = () => {
      dialog.remove();
      resolve(dialog.returnValue === "sent" ? new FormData(form) : null);
    };
  });
}

/** Ask for the code of a match. Return null if none is given. */
export const askCode = () => askText("This match asks for a code", { about: "The player who made the match has it.", send: "Play here" });
