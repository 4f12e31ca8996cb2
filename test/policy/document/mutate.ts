/** Generators of broken policies: small changes of valid ones, all from a seed. */

export type Random = () => number;

export function pick<T>(random: Random, items: readonly T[]): T {
  return items[Math.floor(random() * items.length)]!;
}

/** Text that has a meaning in YAML, templates, expressions or actions. */
const PIECES = [
  '!',
  '!!',
  '! ',
  '#',
  ' #',
  ': ',
  ':',
  '- ',
  '-',
  '|',
  '>',
  '|2',
  '"',
  "'",
  '{',
  '}',
  '[',
  ']',
  ',',
  '&a ',
  '*a',
  '<<: *a',
  '\n',
  '\r\n',
  '\t',
  ' ',
  '  ',
  '    ',
  '\u0000',
  '\u2028',
  '\ufeff',
  '\ud800',
  'é',
  '😀',
  '%YAML 1.1\n',
  '---\n',
  '...\n',
  '${',
  '$${',
  '}',
  '${req.host}',
  '${1}',
  '$1',
  '$9',
  '\\',
  '\\n',
  '\\x',
  '(?!a)',
  '(a+)+',
  '[',
  '.*',
  '\\1',
  'null',
  '~',
  'true',
  'false',
  '0',
  '-1',
  '1e400',
  '.inf',
  '99999999999999999999',
  '0x1f',
  '60',
  '60s',
  '1h',
  '10ns',
  '5 s',
  'req.headers["x"][0]',
  'vars.x',
  'actions.service.log',
  '&& ',
  '|| ',
  '== ',
  'in ',
  'has(',
  ')',
  '?',
  '!has(vars.x)',
  'on_http_request:',
  'on_http_response:',
  'inbound:',
  'outbound:',
  'enabled: false',
  'on_event_stream_message:',
  'on_tcp_connect:',
  'type: deny',
  'type: log',
  'type: set-vars',
  'type: compress',
  'config:',
  'config: {}',
  'actions:',
  'expressions:',
  'name: 404',
  'headers:',
  'host',
  'user-agent',
  'content-length',
  '10.0.0.1',
  '10.0.0.0/8',
  '::/0',
  'https://a.internal',
  '__proto__',
  'constructor',
  'toString',
] as const;

/** A text with one to four small changes. */
export function mutateText(random: Random, text: string, others: readonly string[]): string {
  let mutated = text;
  for (let count = 1 + Math.floor(random() * 3); count > 0; count--)
    mutated = changeText(random, mutated, others);
  return mutated;
}

function changeText(random: Random, text: string, others: readonly string[]): string {
  const at = Math.floor(random() * (text.length + 1));
  const length = Math.floor(random() * 12);
  switch (Math.floor(random() * 9)) {
    case 0:
    case 1:
    case 2:
      return text.slice(0, at) + pick(random, PIECES) + text.slice(at);
    case 3:
      return text.slice(0, at) + text.slice(at + length);
    case 4:
      return text.slice(0, at) + pick(random, PIECES) + text.slice(at + length);
    case 5:
      return text.slice(0, at);
    case 6:
      return changeLines(random, text);
    case 7: {
      const other = pick(random, others);
      const from = Math.floor(random() * other.length);
      return text.slice(0, at) + other.slice(from, from + 40) + text.slice(at + length);
    }
    default:
      return changeWord(random, text, at);
  }
}

function changeLines(random: Random, text: string): string {
  const lines = text.split('\n');
  const one = Math.floor(random() * lines.length);
  const other = Math.floor(random() * lines.length);
  switch (Math.floor(random() * 5)) {
    case 0:
      lines.splice(one, 1);
      break;
    case 1:
      lines.splice(other, 0, lines[one]!);
      break;
    case 2:
      [lines[one], lines[other]] = [lines[other]!, lines[one]!];
      break;
    case 3:
      lines[one] = ` ${lines[one]}`;
      break;
    default:
      lines[one] = lines[one]!.replace(/^ {1,2}/, '');
  }
  return lines.join('\n');
}

/** A typo: another letter inside a word. */
function changeWord(random: Random, text: string, at: number): string {
  const letter = String.fromCodePoint(97 + Math.floor(random() * 26));
  return text.slice(0, at) + letter + text.slice(at + (random() < 0.5 ? 1 : 0));
}

const JUNK: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1.5,
  1e300,
  Number.NaN,
  '',
  ' ',
  'x',
  '60s',
  '60',
  '${req.host}',
  '${',
  '${1}',
  '$9',
  "'a' in req.headers['b']",
  'vars.y',
  '(?=a)',
  'a\nb',
  '\ud800',
  [],
  [[]],
  {},
  { a: 1 },
  { type: 'deny' },
  { actions: [] },
  ['x', 'x'],
  [null],
  { __proto__: null },
  2n ** 70n,
  'deny',
  'a:b',
  'user:password1',
];
const KEYS = [
  'name',
  'expressions',
  'actions',
  'type',
  'config',
  'headers',
  'body',
  'content',
  'from',
  'to',
  'url',
  'enabled',
  'inbound',
  'on_http_request',
  'x',
  '',
  'toString',
  'a/b~c',
];

/** A value with one to three parts replaced; it shares the unchanged ones. */
export function mutateValue(random: Random, value: unknown, others: readonly unknown[]): unknown {
  let mutated = value;
  for (let count = 1 + Math.floor(random() * 3); count > 0; count--)
    mutated = changeValue(random, mutated, others);
  return mutated;
}

function changeValue(random: Random, value: unknown, others: readonly unknown[]): unknown {
  const isBranch = typeof value === 'object' && value !== null;
  if (!isBranch || random() < 0.08) return random() < 0.15 ? pick(random, others) : pick(random, JUNK);
  if (Array.isArray(value)) return changeList(random, value as unknown[], others);
  const entries = Object.entries(value);
  const index = Math.floor(random() * entries.length);
  const entry = entries[index];
  const chance = random();
  if (entry === undefined || chance < 0.08) entries.push([pick(random, KEYS), pick(random, JUNK)]);
  else if (chance < 0.14) entries.splice(index, 1);
  else if (chance < 0.2) entries[index] = [pick(random, KEYS), entry[1]];
  else entries[index] = [entry[0], changeValue(random, entry[1], others)];
  return Object.fromEntries(entries);
}

function changeList(random: Random, list: readonly unknown[], others: readonly unknown[]): unknown[] {
  const changed = [...list];
  const index = Math.floor(random() * changed.length);
  const chance = random();
  if (changed.length === 0 || chance < 0.08) changed.push(pick(random, JUNK));
  else if (chance < 0.14) changed.splice(index, 1);
  else if (chance < 0.2) changed.push(changed[index]);
  else changed[index] = changeValue(random, changed[index], others);
  return changed;
}
