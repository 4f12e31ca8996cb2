import { pick } from './schema_samples.ts';

/** A request before it is sent; `body` is the text. */
export interface Sent {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | null;
}

type Random = () => number;

/** Stands for a text that JSON.stringify cannot write. */
const RAW = ['1e400', '-1e400', '123456789012345678901234567890', '1E+2', '-0', '1.0000000000000000001'];

const LONG = 'x'.repeat(20_000);
const DEEP = Array.from({ length: 60 }).reduce<unknown>((inner) => ({ a: [inner] }), 1);
const TOO_DEEP = Array.from({ length: 2_000 }).reduce<unknown>((inner) => [inner], 1);

/** Values that a field does not expect. */
const ODD: readonly unknown[] = [
  null,
  true,
  '',
  0,
  -1,
  0.5,
  2 ** 53,
  1e308,
  [],
  {},
  [null],
  [[]],
  { '': '' },
  { constructor: {}, toString: 1 },
  LONG,
  DEEP,
  TOO_DEEP,
  'ä😀\u0000\u202e',
  '\ud800',
  '\u{1f469}\u200d\u{1f4bb}'.repeat(300),
  '__proto__',
  '../../etc/passwd',
  '%00%2e%2e',
  "'; DROP TABLE objects; --",
  '${secrets.get("a", "b")}',
  '{"on_http_request":[{"expressions":["((((((((((("],"actions":[{"type":"deny"}]}]}',
  'http://[::1%25lo]:99999/',
  '*.*.*',
  '::/0',
  '0.0.0.0/0',
];

/** The places in a value: paths to each member. */
function placesIn(value: unknown, path: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== 'object' || value === null || path.length > 6) return [path];
  return [path, ...Object.entries(value).flatMap(([key, each]) => placesIn(each, [...path, key]))];
}

/** The value with another one at a path; undefined removes it. */
function changedAt(value: unknown, [key, ...rest]: readonly string[], next: unknown): unknown {
  if (key === undefined) return next;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const list = value.map((each, index) => (String(index) === key ? changedAt(each, rest, next) : each));
    return list.filter((each) => each !== undefined);
  }
  const object = value as Readonly<Record<string, unknown>>;
  return { ...object, [key]: changedAt(object[key], rest, next) };
}

/** A body with one to three changes: fields dropped, types changed, added, deep, long or huge. */
export function mutatedBody(body: unknown, ids: readonly string[], random: Random): string {
  let changed = body;
  let raw: string | null = null;
  for (let times = Math.ceil(random() * 3); times > 0; times--) {
    const place = pick(placesIn(changed), random);
    const how = random();
    if (how < 0.25) changed = changedAt(changed, place, undefined) ?? {};
    else if (how < 0.65) changed = changedAt(changed, place, pick(ODD, random));
    else if (how < 0.8) changed = changedAt(changed, place, pick(ids, random));
    else if (how < 0.9) changed = changedAt(changed, [...place.slice(0, -1), 'unknown'], pick(ODD, random));
    else {
      raw = pick(RAW, random);
      changed = changedAt(changed, place, '<raw>');
    }
  }
  const text = JSON.stringify(changed) ?? '{}';
  return raw === null ? text : text.replaceAll('"<raw>"', raw);
}

const TYPES = [
  '',
  'text/plain',
  'application/json; charset=utf-16',
  'application/xml',
  'APPLICATION/JSON',
  ';',
];
const QUERIES = [
  'limit=0',
  'limit=1e3',
  'limit=99999999999999999999',
  'limit=2&limit=3',
  'before_id=x',
  'before_id=%00',
  'filter=',
  `filter=${'('.repeat(500)}`,
  'filter=obj.id%20==%201',
  'filter=obj.metadata.matches(%22(a%2B)%2B%24%22)',
  `filter=${encodeURIComponent('obj.created_at < timestamp("99999-01-01")')}`,
  'unknown=1',
  '__proto__=1',
  '%ff=%fe',
  'force=maybe',
];
const HEADERS: readonly (readonly [string, string])[] = [
  ['service-version', ''],
  ['service-version', '3'],
  ['authorization', 'Bearer x'],
  ['authorization', 'Basic ////'],
  ['origin', 'null'],
  ['user-agent', 'ngrok-api-typescript/0.9'],
];
const IDS = [
  'x',
  '%00',
  '%2e%2e%2f',
  '%F0%9F%98%80',
  'ipp_',
  `ipp_${'0'.repeat(27)}`,
  'y'.repeat(3_000),
  '__proto__',
];

/** A request with one change outside of the fields of its body. */
export function mutatedRequest(sent: Sent, ids: readonly string[], random: Random): Sent {
  const { method, path, headers, body } = sent;
  const what = random();
  if (what < 0.2) {
    const parts = path.split('/');
    const index = Math.floor(random() * parts.length);
    const id = random() < 0.5 ? pick(ids, random) : pick(IDS, random);
    return { ...sent, path: parts.with(Math.max(index, 1), id).join('/') };
  }
  if (what < 0.4) return { ...sent, path: `${path}?${pick(QUERIES, random)}` };
  if (what < 0.5) return { ...sent, method: pick(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'], random) };
  if (what < 0.65) {
    const [name, value] = pick(HEADERS, random);
    const others = Object.entries(headers).filter(([each]) => each !== name);
    return { ...sent, headers: Object.fromEntries([...others, ...(value === '' ? [] : [[name, value]])]) };
  }
  if (body === null) return method === 'GET' ? { ...sent, path: `${path}//` } : { ...sent, body: '{}' };
  if (what < 0.75) return { ...sent, headers: { ...headers, 'content-type': pick(TYPES, random) } };
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body;
  if (what < 0.85) return { ...sent, body: bytes.subarray(0, Math.floor(random() * bytes.length)) };
  if (what < 0.95) {
    const broken = Uint8Array.from(bytes);
    for (let times = 0; times < 4; times++)
      broken[Math.floor(random() * broken.length)] = Math.floor(random() * 256);
    return { ...sent, body: broken };
  }
  return { ...sent, body: pick(['null', '[]', '"x"', '1', '{"a":1}{', '\ufeff{}', ' '], random) };
}
