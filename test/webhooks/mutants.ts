import { firstValue } from '../../src/http/fields.ts';
import { describePlace } from '../../src/webhooks/places.ts';
import type { Place, Scheme } from '../../src/webhooks/provider.ts';
import type { WebhookRequest } from '../../src/webhooks/reading.ts';
import { parsePairs, runTogether } from '../../src/webhooks/form.ts';
import { withHeader } from './requests.ts';

/** A request that must be refused though the one it was made from is right. */
export interface Mutant {
  readonly name: string;
  readonly request: WebhookRequest;
  /** Added to the clock of the receiver. */
  readonly laterMs?: number;
  readonly secret?: string;
}

/** The parts of a request that a scheme signs, from its row: changes of other parts cannot be detected. */
function signsBody(scheme: Scheme): boolean {
  return /\{(?:body|body_json|form|form_or_body_hash|plivo_target|contentful_request)\}/.test(scheme.signs);
}

function signsUrl(scheme: Scheme): boolean {
  return /\{(?:url|plivo_target|contentful_request)\}/.test(scheme.signs);
}

function signsMethod(scheme: Scheme): boolean {
  return /\{(?:method|contentful_request)\}/.test(scheme.signs);
}

/**
 * Everything that may befall a signed request on its way: `other` is a request signed for another body with the
 * same secret, at the same time.
 */
export function mutantsOf(
  scheme: Scheme,
  signed: WebhookRequest,
  other: WebhookRequest,
  wrongSecret: string,
  at: number,
): readonly Mutant[] {
  return [
    ...(signsBody(scheme) ? bodyMutants(scheme, signed, at) : []),
    ...placeMutants('signature', scheme.signature[0]!, signed, at),
    ...swapped(scheme, signed, other),
    ...timeMutants(scheme, signed, at),
    ...Object.entries(scheme.fields ?? {}).flatMap(([name, place]) => placeMutants(name, place, signed, at)),
    ...(signsUrl(scheme) ? urlMutants(signed) : []),
    ...(signsMethod(scheme) ? [{ name: 'other method', request: { ...signed, method: 'PUT' } }] : []),
    { name: 'wrong secret', request: signed, secret: wrongSecret },
  ];
}

function bodyMutants(scheme: Scheme, signed: WebhookRequest, at: number): readonly Mutant[] {
  const { body } = signed;
  const end = Buffer.concat([body, Buffer.from(' ')]);
  const middle = Buffer.from(body);
  const mutants: Mutant[] = [];
  const add = (name: string, changed: Uint8Array) => {
    const isSame =
      scheme.signs.includes('{form') || scheme.signs.includes('{plivo') ? isSameForm(body, changed) : false;
    if (!isSame && !Buffer.from(body).equals(changed))
      mutants.push({ name, request: { ...signed, body: changed } });
  };
  add('extra space at the end', end);
  if (middle.length > 2) {
    const half = Math.floor(middle.length / 2);
    add(
      'extra space inside',
      Buffer.concat([middle.subarray(0, half), Buffer.from(' '), middle.subarray(half)]),
    );
    add('truncated by one', middle.subarray(0, -1));
    add('truncated by half', middle.subarray(0, half));
  }
  add('emptied', Buffer.alloc(0));
  for (const [where, bit] of [
    [0, at % 8],
    [at % Math.max(1, middle.length), (at >> 3) % 8],
    [middle.length - 1, (at >> 6) % 8],
  ] as const) {
    if (middle.length > 0) add(`bit ${bit} of byte ${where} flipped`, flipped(middle, where, bit));
  }
  return mutants;
}

function meaning(bytes: Uint8Array): string {
  return runTogether(parsePairs(Buffer.from(bytes).toString('utf8')));
}

/** Forms are signed by their meaning: another spelling of the same parameters is the same form. */
function isSameForm(one: Uint8Array, other: Uint8Array): boolean {
  try {
    return meaning(one) === meaning(other);
  } catch {
    return false;
  }
}

function flipped(bytes: Uint8Array, where: number, bit: number): Buffer {
  const copy = Buffer.from(bytes);
  copy[where]! ^= 1 << bit;
  return copy;
}

/** What may befall a single value that is signed, or that is the signature. */
function placeMutants(what: string, place: Place, signed: WebhookRequest, at: number): readonly Mutant[] {
  if (!('header' in place)) return bodyMemberMutants(what, place, signed);
  const value = firstValue(signed.headers, place.lower)!;
  const where = value.length - 1 - (at % Math.min(8, value.length));
  const changed = flipped(Buffer.from(value, 'latin1'), where, at % 7).toString('latin1');
  const set = (name: string, text: string | null): Mutant => ({
    name: `${what} ${name}`,
    request: withHeader(signed, place.header, text),
  });
  const isOurs = !('list' in place) || value.split(place.list).length === 1;
  return [
    set('missing', null),
    set('empty', ''),
    { name: `${what} duplicated`, request: { ...signed, headers: [...signed.headers, place.header, value] } },
    {
      name: `${what} duplicated in other letters`,
      request: { ...signed, headers: [...signed.headers, place.header.toUpperCase(), 'x'] },
    },
    ...(isOurs
      ? [
          set('with a bit flipped', changed),
          set('truncated', value.slice(0, -1)),
          set('with a letter more', `${value}0`),
          set('with a space inside', `${value.slice(0, -2)} ${value.slice(-2)}`),
        ]
      : []),
    ...(what === 'signature'
      ? [set('in capitals', value.toUpperCase())].filter(() => value !== value.toUpperCase())
      : []),
  ];
}

function bodyMemberMutants(
  what: string,
  place: Exclude<Place, { header: string }>,
  signed: WebhookRequest,
): readonly Mutant[] {
  const text = Buffer.from(signed.body).toString('utf8');
  const path = 'json' in place ? place.json : place.form;
  const name = path.split('.').at(-1)!;
  const pattern = 'json' in place ? new RegExp(`"${name}":("[^"]*"|\\d+)`) : new RegExp(`${name}=([^&]*)`);
  const value = pattern.exec(text)?.[1];
  if (value === undefined) throw new Error(`${describePlace(place)} is not in ${text}`);
  const inner = value.replaceAll('"', '');
  const write = (label: string, changed: string): Mutant => ({
    name: `${what} ${label}`,
    request: {
      ...signed,
      body: Buffer.from(
        text.replace(value, () => changed),
        'utf8',
      ),
    },
  });
  const quote = value.startsWith('"') ? '"' : '';
  return [
    write('changed', `${quote}${inner.slice(0, -1)}${inner.endsWith('1') ? '2' : '1'}${quote}`),
    write('truncated', `${quote}${inner.slice(0, -1)}${quote}`),
    write('emptied', '""'),
    {
      name: `${what} renamed`,
      request: {
        ...signed,
        body: Buffer.from(
          text.replace(new RegExp(`"?${name}"?(?=[:=])`), (found) => found.replace(name, `x${name}`)),
          'utf8',
        ),
      },
    },
  ];
}

function swapped(scheme: Scheme, signed: WebhookRequest, other: WebhookRequest): readonly Mutant[] {
  const place = scheme.signature[0]!;
  if (!('header' in place) || !signsBody(scheme)) return [];
  const value = firstValue(other.headers, place.lower)!;
  if (value === firstValue(signed.headers, place.lower)) return [];
  return [{ name: 'signature of another body', request: withHeader(signed, place.header, value) }];
}

function timeMutants(scheme: Scheme, signed: WebhookRequest, at: number): readonly Mutant[] {
  const { timestamp } = scheme;
  if (timestamp === undefined) return [];
  // One unit more than allowed: timestamps in seconds are cut off, so a second's grain is needed.
  const beyond = timestamp.windowSeconds * 1000 + 1000;
  const mutants: Mutant[] = [
    { name: 'stale', request: signed, laterMs: beyond },
    { name: 'very stale', request: signed, laterMs: beyond + 86_400_000 },
    { name: 'from the future', request: signed, laterMs: -beyond },
  ];
  if ('header' in timestamp.at && !('list' in timestamp.at))
    mutants.push(...placeMutants('timestamp', timestamp.at, signed, at));
  return mutants;
}

function urlMutants(signed: WebhookRequest): readonly Mutant[] {
  const { url } = signed;
  const changed: Record<string, string> = {
    'other path': url.replace('/in/', '/out/'),
    'other query': url.replace('foo=1', 'foo=2'),
    'no query': url.replace(/\?.*/, ''),
    'more query': `${url}&extra=1`,
  };
  return Object.entries(changed)
    .filter(([, to]) => to !== url)
    .map(([name, to]) => ({ name, request: { ...signed, url: to } }));
}
