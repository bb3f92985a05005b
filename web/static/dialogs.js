// Questions of the page. Each opens a dialog, and waits until it is closed.

import { t } from "./language.js";
import { make, onSubmit } from "./site.js";

/** Ask for a text. Return it without blanks around it, or null if none is given. `about`: a sentence below the question. `long`: of several lines. */
export async function askText(question, { about = null, long = false, send = t("Send"), ...input } = {}) {
  const field = make(long ? "textarea" : "input", { name: "text", required: true, autofocus: true, ...(long && { rows: 6 }), ...input });
  const data = await opened(question, make("label", {}, about ?? t("Your answer"), field), send);
  return data?.get("text").trim() || null;
}

/** Ask whether the player is sure. `yes`: the words of the button that does it. */
export const isSure = async (question, yes) => (await opened(question, null, yes)) !== null;

/**
 * Open a dialog with a form of an element, some, or none. Return what it holds when it is sent, or null when it is closed. `act` gets what it holds before that; while
 * it fails with a Problem the dialog stays open, with what is wrong. `send`: the words of the button that sends it, or null if it is only to be closed.
 */
export function opened(question, content, send, act = () => {}) {
  const cancel = make("button", { type: "button", class: "quiet", onclick: () => dialog.close() }, send === null ? t("Close") : t("Cancel"));
  const wrong = make("p", { class: "wrong", role: "alert" });
  const form = make("form", {}, ...[content].flat(), wrong, make("p", { class: "row end" }, cancel, send && make("button", { class: "first" }, send)));
  const dialog = make("dialog", { "aria-labelledby": "question" }, make("h2", { id: "question" }, question), form);
  let found = null;
  onSubmit(form, wrong, async (data) => {
    await act(data);
    found = data;
    dialog.close();
  });
  document.body.append(dialog);
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.onclose = () => {
      dialog.remove();
      resolve(found);
    };
  });
}

/** Ask for the code of a match. Return null if none is given. */
export const askCode = () => askText(t("This match asks for a code"), { about: t("The player who made the match has it."), send: t("Play here") });
