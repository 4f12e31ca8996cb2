/** Values of response fields that browsers do not take as they seem to be meant. */

/** An origin as browsers send it (RFC 6454 §6.2): scheme, host in lower case and perhaps a port, without a path. */
const AN_ORIGIN =
  /^(?:null|[a-z][a-z0-9+.-]*:\/\/(?:[a-z0-9_-]+(?:\.[a-z0-9_-]+)*|\[[0-9a-f:.]+\])(?::\d{1,5})?)$/;

/** Whether a text can be the origin of a page. */
export function isOrigin(text: string): boolean {
  return AN_ORIGIN.test(text);
}

/** Fields of which browsers take a star literally in responses with credentials (Fetch §3.2.5). */
const LITERAL_STARS = [
  'access-control-allow-headers',
  'access-control-allow-methods',
  'access-control-expose-headers',
];

/** Why browsers refuse a response with these CORS fields, as a sentence without its full stop; null if they do not. */
export function whyRefused(fields: ReadonlyMap<string, string>): string | null {
  const valueOf = (name: string): string => {
    const value = fields.get(name)?.trim() ?? '';
    return value.includes('${') ? '' : value;
  };
  const origin = valueOf('access-control-allow-origin');
  const credentials = valueOf('access-control-allow-credentials');
  if (origin === '*' && credentials === 'true') return `\`access-control-allow-origin: *\` with credentials`;
  if (origin !== '' && origin !== '*' && !isOrigin(origin))
    return `\`access-control-allow-origin: ${origin}\` is not one origin`;
  if (credentials.toLowerCase() === 'true' && credentials !== 'true')
    return `\`access-control-allow-credentials: ${credentials}\` is not \`true\``;
  const star = LITERAL_STARS.find((name) => valueOf(name) === '*');
  return star !== undefined && credentials === 'true' ? `\`${star}: *\` with credentials` : null;
}

/** What browsers understand of fields for their security. */
const UNDERSTOOD: Readonly<Record<string, RegExp>> = {
  'strict-transport-security': /(?:^|;)\s*max-age\s*=\s*"?\d+"?\s*(?:;|$)/i,
  'x-frame-options': /^(?:deny|sameorigin)$/i,
  'x-content-type-options': /^nosniff$/i,
};

/** Fields and attributes of cookies that browsers ignore, as they are written. */
export function ignoredIn(fields: ReadonlyMap<string, string>): readonly string[] {
  return Array.from(fields).flatMap(([name, value]) => {
    if (value.includes('${')) return [];
    if (name === 'set-cookie') {
      const [, given] = /;\s*samesite\s*=\s*([^;]*)/i.exec(value) ?? [];
      return given === undefined || /^(?:strict|lax|none)$/i.test(given.trim()) ? [] : [`SameSite=${given}`];
    }
    const form = UNDERSTOOD[name];
    return form === undefined || form.test(value.trim()) ? [] : [`${name}: ${value}`];
  });
}
