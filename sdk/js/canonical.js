// Bytes and texts that everybody writes alike.

/** Return the canonical JSON of a value (RFC 8785). */
export function canonical(value) {
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  const names = Object.keys(value).sort();
  return `{${names.map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`).join(",")}}`;
}

/** Return bytes in base64. */
export const base64 = (bytes) => btoa(String.fromCharCode(...new Uint8Array(bytes)));

/** Return the bytes of a text in base64; none if it is none. */
export function decoded(text) {
  try {
    return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  } catch {
    return new Uint8Array();
  }
}
