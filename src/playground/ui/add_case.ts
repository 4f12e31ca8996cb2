/** Adds cases to the text of a scenario file, at its end, where `cases` usually is. */

const quoted = (text: string): string => JSON.stringify(text);

/** Whatever the result is; a person replaces it by what is meant. */
const OPEN = '    expect: snapshot\n';

/** A request as people write it: `GET /path`, a URL, or a command line of curl. */
export function caseOf(request: string, ip: string): string {
  const written = request.trim().replaceAll(/\\\r?\n/g, ' ');
  const name = quoted(written.length > 80 ? `${written.slice(0, 79)}…` : written);
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

interface HarRequest {
  readonly method: string;
  readonly url: string;
  readonly headers?: readonly { readonly name: string; readonly value: string }[];
  readonly postData?: { readonly text?: string };
}

/** Fields that the simulator makes itself. */
const MADE = /^(?::|host$|content-length$|connection$|accept-encoding$)/i;
const MOST = 200;

/** The requests of an HTTP Archive; throws for other files. */
export function casesOfHar(text: string): string {
  const { log } = JSON.parse(text) as { log?: { entries?: readonly { readonly request: HarRequest }[] } };
  if (!Array.isArray(log?.entries)) throw new TypeError('the file is not an HTTP Archive');
  const entries = log.entries as readonly { readonly request: HarRequest }[];
  return entries
    .slice(0, MOST)
    .map(({ request: { method, url, headers = [], postData } }, index) => {
      const fields = headers.filter(({ name }) => !MADE.test(name));
      const lines = [
        `  - name: ${quoted(`${index + 1}. ${method} ${url.slice(0, 100)}`)}`,
        '    request:',
        `      method: ${quoted(method)}`,
        `      url: ${quoted(url)}`,
        ...(fields.length === 0 ? [] : ['      headers:']),
        ...grouped(fields).map(([name, values]) => `        ${quoted(name)}: ${JSON.stringify(values)}`),
        ...(postData?.text === undefined ? [] : [`      body: ${quoted(postData.text)}`]),
      ];
      return `${lines.join('\n')}\n${OPEN}`;
    })
    .join('');
}

function grouped(
  fields: readonly { readonly name: string; readonly value: string }[],
): [string, string | string[]][] {
  const values = new Map<string, string[]>();
  for (const { name, value } of fields) {
    const key = name.toLowerCase();
    values.set(key, [...(values.get(key) ?? []), value]);
  }
  return Array.from(values, ([name, all]) => [name, all.length === 1 ? all[0]! : all]);
}
