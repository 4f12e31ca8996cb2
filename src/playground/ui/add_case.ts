/** Adds cases to the text of a scenario file, at its end, where `cases` usually is. */

const quoted = (text: string): string => JSON.stringify(text);

/** Whatever the result is; a person replaces it by what is meant. */
const OPEN = '    expect: snapshot\n';

/** A request as people write it: `GET /path`, a URL, or a command line of curl. */
export function caseOf(request: string, ip: string): string {
  const written = request.trim().replace(/^\$\s+/, '');
  const line = written.replaceAll(/\\?\s*\r?\n\s*/g, ' ');
  const name = quoted(line.length > 80 ? `${line.slice(0, 79)}…` : line);
  if (/^curl\s/.test(written)) return `  - name: ${name}\n    curl: ${quoted(written)}\n${OPEN}`;
  const [, method, target] = /^(?:([A-Za-z]+)\s+)?(\S+)$/.exec(written) ?? [];
  if (target === undefined) throw new TypeError('write a path, a URL, `POST /path`, or a curl command');
  const parts = [
    ...(method === undefined ? [] : [`method: ${quoted(method.toUpperCase())}`]),
    `url: ${quoted(target)}`,
    ...(ip.trim() === '' ? [] : [`ip: ${quoted(ip.trim())}`]),
  ];
  return `  - name: ${ip.trim() === '' ? name : quoted(`${written} from ${ip.trim()}`)}\n    request: { ${parts.join(', ')} }\n${OPEN}`;
}

export function withCase(scenario: string, added: string): string {
  const text = scenario.endsWith('\n') || scenario === '' ? scenario : `${scenario}\n`;
  const empty = /^cases:[ \t]*\[\][ \t]*$/m;
  if (empty.test(text)) return text.replace(empty, `cases:\n${added.trimEnd()}`);
  return /^cases:/m.test(text) ? text + added : `${text}\ncases:\n${added}`;
}

interface Named {
  readonly name: string;
  readonly value: string;
}

interface HarRequest {
  readonly method: string;
  readonly url: string;
  readonly headers?: readonly Named[];
  readonly postData?: { readonly text?: string; readonly params?: readonly Named[] };
}

/** Fields that the simulator makes itself. */
const MADE = /^(?:host|content-length|connection|accept-encoding)$/i;
/** The name of a field (RFC 9110 §5.6.2); pseudo fields of HTTP/2 begin with a colon. */
const NAME = /^[\w!#$%&'*+.^`|~-]+$/;
const CONTROL = /\p{Cc}/u;
const MOST = 200;

/** Cases in YAML, and how many requests are not among them. */
export interface HarCases {
  readonly cases: string;
  /** Requests of extensions, and of data in the page itself. */
  readonly others: number;
  /** Requests beyond the first 200. */
  readonly beyond: number;
}

/** The requests of an HTTP Archive; throws for other files. */
export function casesOfHar(text: string): HarCases {
  const { log } = (JSON.parse(text) ?? {}) as {
    log?: { entries?: readonly { readonly request?: HarRequest }[] };
  };
  if (!Array.isArray(log?.entries)) throw new TypeError('the file is not an HTTP Archive');
  const entries = log.entries as readonly { readonly request?: HarRequest }[];
  const requests = entries.flatMap(({ request }) => {
    const url = request === undefined ? null : sentUrl(request.url);
    return url === null ? [] : [{ ...request!, url }];
  });
  return {
    cases: requests.slice(0, MOST).map(harCase).join(''),
    others: entries.length - requests.length,
    beyond: Math.max(0, requests.length - MOST),
  };
}

/** The URL as its client sent it: of a WebSocket that of its handshake, without a fragment; null if it was not sent by HTTP. */
function sentUrl(url: string): string | null {
  const [, scheme, rest] = /^(http|ws)(s?:\/\/[^#]+)/is.exec(url) ?? [];
  if (scheme === undefined || !URL.canParse(url)) return null;
  const whole = `http${rest!}`;
  return /[^\x21-\x7e]/.test(whole) ? new URL(whole).href : whole;
}

function harCase({ method, url, headers = [], postData }: HarRequest, index: number): string {
  const fields = headers
    .filter(({ name }) => NAME.test(name) && !MADE.test(name))
    // Repeated fields are one with breaks between their values.
    .flatMap(({ name, value }) =>
      value
        .trim()
        .split(/[\r\n]+/)
        .map((each) => ({ name, value: each })),
    )
    .filter(({ value }) => !CONTROL.test(value));
  const body = bodyOf(postData);
  const lines = [
    `  - name: ${quoted(`${index + 1}. ${method} ${url.slice(0, 100)}`)}`,
    '    request:',
    `      method: ${quoted(method)}`,
    `      url: ${quoted(url)}`,
    ...(fields.length === 0 ? [] : ['      headers:']),
    ...grouped(fields).map(([name, values]) => `        ${quoted(name)}: ${JSON.stringify(values)}`),
    ...(body === undefined ? [] : [`      body: ${quoted(body)}`]),
  ];
  return `${lines.join('\n')}\n${OPEN}`;
}

/** Some browsers write a form only as its parameters. */
function bodyOf({ text, params = [] }: NonNullable<HarRequest['postData']> = {}): string | undefined {
  if ((text !== undefined && text !== '') || params.length === 0) return text;
  return new URLSearchParams(params.map(({ name, value }) => [name, value ?? ''])).toString();
}

function grouped(fields: readonly Named[]): [string, string | string[]][] {
  const values = new Map<string, string[]>();
  for (const { name, value } of fields) {
    const key = name.toLowerCase();
    values.set(key, [...(values.get(key) ?? []), value]);
  }
  return Array.from(values, ([name, all]) => [name, all.length === 1 ? all[0]! : all]);
}
