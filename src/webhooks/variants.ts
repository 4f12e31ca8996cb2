/** A possible modification, as the end of a sentence, with the modified value. */
interface Variant {
  readonly message: string;
}

/** How the body may have looked before it was modified in transit; only variants that differ. */
export function bodyVariants(body: Uint8Array): readonly (Variant & { readonly body: Uint8Array })[] {
  const text = Buffer.from(body).toString('utf8');
  const variants: [message: string, text: string][] = [
    ['without its trailing newline', text.replace(/\r?\n$/, '')],
    ['without surrounding white space', text.trim()],
    ['with a trailing newline', `${text}\n`],
    ['with a trailing CRLF', `${text.replace(/\r?\n$/, '')}\r\n`],
    ['with LF for CRLF', text.replaceAll('\r\n', '\n')],
    ['with CRLF for LF', text.replaceAll(/(?<!\r)\n/g, '\r\n')],
    ['without its byte order mark', text.replace(/^\uFEFF/, '')],
    ['when it is empty', ''],
    ...jsonVariants(text),
  ];
  const seen = new Set([text]);
  return variants
    .filter(([, variant]) => !seen.has(variant) && seen.add(variant).size > 0)
    .map(([message, variant]) => ({ message, body: Buffer.from(variant, 'utf8') }));
}

/** Other serializations of JSON, because bodies are often parsed and serialized again. */
function jsonVariants(text: string): [message: string, text: string][] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return [];
  }
  const compact = JSON.stringify(value);
  const escaped = compact.replaceAll(
    /[\u0080-\uffff]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return [
    ['serialized as compact JSON', compact],
    ['serialized as JSON with an indentation of two', JSON.stringify(value, null, 2)],
    ['serialized as JSON with an indentation of four', JSON.stringify(value, null, 4)],
    ['serialized as JSON with a space after each comma and colon', spaced(value)],
    ['serialized as JSON with escaped non-ASCII characters', escaped],
    ['serialized as JSON with escaped slashes', compact.replaceAll('/', '\\/')],
    ['serialized as JSON with escaped non-ASCII characters and slashes', escaped.replaceAll('/', '\\/')],
  ];
}

function spaced(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(spaced).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}: ${spaced(member)}`);
  return `{${members.join(', ')}}`;
}

/** How the secret may have been meant. */
export function secretVariants(secret: string): readonly (Variant & { readonly secret: string })[] {
  const variants: [message: string, secret: string][] = [
    ['without surrounding white space', secret.trim()],
    ['decoded from base64', Buffer.from(secret, 'base64').toString('utf8')],
    ['decoded from hex', Buffer.from(secret, 'hex').toString('utf8')],
    ['used without decoding base64', Buffer.from(secret, 'utf8').toString('base64')],
    ['without the prefix whsec_', secret.replace(/^whsec_/, '')],
    ['without surrounding quotes', secret.replace(/^(["'])(.*)\1$/, '$2')],
  ];
  return variants
    .filter(([, variant]) => variant !== secret && variant !== '')
    .map(([message, variant]) => ({ message, secret: variant }));
}

/** URLs that the sender may have signed for the same endpoint behind a proxy. */
export function urlVariants(url: string): readonly { readonly url: string }[] {
  const query = url.indexOf('?');
  const bare = query < 0 ? url : url.slice(0, query);
  const tail = query < 0 ? '' : url.slice(query);
  const withoutPort = url.replace(/^(https?:\/\/[^/:?#]+):\d+/i, '$1');
  const variants = [
    url.replace(/^https:/i, 'http:'),
    url.replace(/^http:/i, 'https:'),
    withoutPort,
    withoutPort.replace(/^http:/i, 'https:'),
    bare,
    bare.endsWith('/') ? bare.slice(0, -1) + tail : `${bare}/${tail}`,
    url.replace(/^(https?:\/\/)www\./i, '$1'),
  ];
  return [...new Set(variants)].filter((variant) => variant !== url).map((variant) => ({ url: variant }));
}
