/** The parts of a body that curl builds from fields. */

/** A field of `-F`: its name and value, or why it cannot be read. */
export interface FormField {
  readonly name: string;
  readonly value: string;
  readonly type: string | null;
}

/** Reads `name=value` of `-F`; with `isPlain`, of `--form-string`, which has no `@file` and no `;type=`. */
export function formField(text: string, isPlain: boolean): FormField | { readonly problem: string } {
  const equals = text.indexOf('=');
  if (equals <= 0) return { problem: `'${text}' is not a field of a form` };
  const [name, value] = [text.slice(0, equals), text.slice(equals + 1)];
  if (isPlain) return { name, value, type: null };
  if (/^[@<]/.test(value)) return { problem: `-F ${text} reads a file; write its content` };
  const [, own = value, type = null] = /^(.*?);type=([^;]+)$/s.exec(value) ?? [];
  return { name, value: own, type };
}

/** A body of `multipart/form-data` (RFC 7578), the same for the same fields; curl's boundary is a random one. */
export function multipart(fields: readonly FormField[]): { readonly type: string; readonly body: string } {
  let boundary = '------------------------edgeproof';
  while (fields.some(({ value }) => value.includes(boundary))) boundary += '-';
  const parts = fields.map(({ name, value, type }) => {
    const named = name.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
    const typed = type === null ? '' : `content-type: ${type}\r\n`;
    return `--${boundary}\r\ncontent-disposition: form-data; name="${named}"\r\n${typed}\r\n${value}\r\n`;
  });
  return {
    type: `multipart/form-data; boundary=${boundary}`,
    body: `${parts.join('')}--${boundary}--\r\n`,
  };
}

/** `content`, `=content` and `name=content` of `--data-urlencode`; null for files. */
export function urlEncoded(text: string): string | null {
  const equals = text.indexOf('=');
  if (/^[^=]*@/.test(text)) return null;
  if (equals < 0) return encoded(text);
  const name = text.slice(0, equals);
  return `${name}${name === '' ? '' : '='}${encoded(text.slice(equals + 1))}`;
}

function escaped(character: string): string {
  return character === '%20' ? '+' : `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}

/** As curl does: only unreserved characters (RFC 3986 §2.3) stay, and a space becomes `+`. */
function encoded(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replaceAll(/%20|[!'()*]/g, escaped);
}
