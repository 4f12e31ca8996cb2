/** A way in which something may have been changed, as the end of a sentence, and the thing so changed. */
interface Variant {
  readonly message: string;
}

/** The body as it may have been before somebody on the way touched it; only forms that differ from it. */
export function bodyVariants(body: Uint8Array): readonly (Variant & { readonly body: Uint8Array })[] {
  const text = Buffer.from(body).toString('utf8');
  const variants: [says: string, text: string][] = [
    ['without the newline at its end', text.replace(/\r?\n$/, '')],
    ['without the blanks around it', text.trim()],
    ['with a newline at its end', `${text}\n`],
    ['with CRLF at its end', `${text.replace(/\r?\n$/, '')}\r\n`],
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

/** JSON as other libraries write it: what was signed is often parsed and written again. */
function jsonVariants(text: string): [says: string, text: string][] {
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
    ['written again as compact JSON', compact],
    ['written again as JSON indented by two', JSON.stringify(value, null, 2)],
    ['written again as JSON indented by four', JSON.stringify(value, null, 4)],
    ['written again as JSON with a blank after each comma and colon', spaced(value)],
    ['written again as JSON with escaped letters', escaped],
    ['written again as JSON with escaped slashes', compact.replaceAll('/', '\\/')],
    ['written again as JSON with escaped letters and slashes', escaped.replaceAll('/', '\\/')],
  ];
}

function spaced(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(spaced).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}: ${spaced(member)}`);
  return `{${members.join(', ')}}`;
}

/** The secret as it may have been meant. */
export function secretVariants(secret: string): readonly (Variant & { readonly secret: string })[] {
  const variants: [says: string, secret: string][] = [
    ['without the blanks or newline around it', secret.trim()],
    ['with its base64 decoded', Buffer.from(secret, 'base64').toString('utf8')],
    ['with its hex decoded', Buffer.from(secret, 'hex').toString('utf8')],
    ['when it is not decoded from base64', Buffer.from(secret, 'utf8').toString('base64')],
    ['without whsec_', secret.replace(/^whsec_/, '')],
    ['without the quotes around it', secret.replace(/^(["'])(.*)\1$/, '$2')],
  ];
  return variants
    .filter(([, variant]) => variant !== secret && variant !== '')
    .map(([message, variant]) => ({ message, secret: variant }));
}

/** The URL as the sender may have it, behind other names of the same endpoint. */
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
