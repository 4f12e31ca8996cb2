import { memoizeRecurring } from '../../caches/recurring.ts';
import { isBodyless } from '../../http/bodyless.ts';
import { fieldNamesOf, perNames } from '../../http/field_names.ts';
import { type FieldList, allValues, isName, listMembers } from '../../http/fields.ts';
import { mediaType } from '../../http/ascii.ts';

/** `deflate` is the zlib format (RFC 9110 §8.4.1.2, RFC 1950), not raw DEFLATE. */
export type Algorithm = 'gzip' | 'deflate';

/** Why a response is or is not compressed. */
type CompressionCode =
  | 'compressed'
  | 'not_wanted'
  | 'no_body'
  | 'partial'
  | 'already_encoded'
  | 'no_transform';

export interface CompressionPlan {
  readonly compress: Algorithm | null;
  readonly reason: CompressionCode;
  /** Whether each chunk is flushed: events of an event stream must not wait for a full block. */
  readonly flush: boolean;
  /** Response fields to remove (names in lower case), and then to add. */
  readonly remove: readonly string[];
  readonly add: readonly (readonly [name: string, value: string])[];
}

/**
 * The coding in `offered` that the client prefers, the first one if equal; null if it accepts none or prefers
 * the identity coding (RFC 9110 §12.5.3). Without `Accept-Encoding` nothing is compressed, although it would
 * be allowed. `acceptEncoding` contains all lines of the field, joined by commas.
 */
export function negotiate<Coding extends string>(
  acceptEncoding: string | undefined,
  offered: readonly Coding[],
): Coding | null {
  if (acceptEncoding === undefined) return null;
  const wishes = parseAcceptEncoding(acceptEncoding);
  // The identity coding competes only if it is named; a bare `*` does not express a preference for it.
  let best = Math.max(1, wishes.named.get('identity') ?? 0);
  let chosen: Coding | null = null;
  for (const algorithm of offered) {
    const wish = weightOf(wishes, algorithm);
    if (chosen === null ? wish >= best : wish > best) {
      best = wish;
      chosen = algorithm;
    }
  }
  return chosen;
}

const KEPT_ANSWERS = 256;
const KEPT_UNITS = 256;

/** `negotiate` for one offer, with a bounded cache of common header values. */
export function negotiator(
  offered: readonly Algorithm[],
): (acceptEncoding: string | undefined) => Algorithm | null {
  const kept = new Map<string, Algorithm | null>();
  return (acceptEncoding) => {
    if (acceptEncoding === undefined) return null;
    const known = kept.get(acceptEncoding);
    if (known !== undefined) return known;
    const answer = negotiate(acceptEncoding, offered);
    if (acceptEncoding.length <= KEPT_UNITS) {
      if (kept.size >= KEPT_ANSWERS) kept.clear();
      kept.set(acceptEncoding, answer);
    }
    return answer;
  };
}

const NO_NAMES: readonly string[] = [];
const NO_ADDITIONS: CompressionPlan['add'] = [];
const VARY: CompressionPlan['add'] = [['vary', 'Accept-Encoding']];

/** A plan that leaves the response unchanged. */
function untouched(reason: CompressionCode): CompressionPlan {
  return { compress: null, reason, flush: false, remove: NO_NAMES, add: NO_ADDITIONS };
}

const NO_BODY = untouched('no_body');
const PARTIAL = untouched('partial');
const ALREADY_ENCODED = untouched('already_encoded');
const NO_TRANSFORM = untouched('no_transform');
const NOT_WANTED = untouched('not_wanted');
const NOT_WANTED_VARY: CompressionPlan = { ...NOT_WANTED, add: VARY };

const EVENT_STREAM = 'text/event-stream';

// Plans of the most frequent responses: no affected fields, or only a length. They are shared, so that
// verdicts can be cached.
const COMMON: Readonly<
  Record<Algorithm, { readonly plain: CompressionPlan; readonly sized: CompressionPlan }>
> = {
  gzip: { plain: commonPlan('gzip', NO_NAMES), sized: commonPlan('gzip', ['content-length']) },
  deflate: { plain: commonPlan('deflate', NO_NAMES), sized: commonPlan('deflate', ['content-length']) },
};

function commonPlan(compress: Algorithm, remove: readonly string[]): CompressionPlan {
  return {
    compress,
    reason: 'compressed',
    flush: false,
    remove,
    add: [['content-encoding', compress], ...VARY],
  };
}

const wantedOfBoth = negotiator(['gzip', 'deflate']);

/**
 * Decides whether and how a response is compressed, and which fields change. All media types and sizes
 * qualify. `Vary` is added to every response that would be compressed for another client (for caches).
 */
export function compressionPlan(
  request: { readonly method: string; readonly headers: FieldList },
  response: { readonly status: number; readonly headers: FieldList },
): CompressionPlan {
  const { status, headers } = response;
  if (isBodyless(request.method, status)) return NO_BODY;
  if (status === 206) return PARTIAL;
  const seen = look(headers);
  if (seen.isEncoded) return ALREADY_ENCODED;
  if (seen.isEmpty) return NO_BODY;
  const wishes = lookAtRequest(request.headers);
  if (seen.refusesTransform || wishes.refusesTransform) return NO_TRANSFORM;
  const algorithm = wantedOfBoth(wishes.acceptEncoding);
  const vary = seen.vary ? listMembers(headers, 'vary') : NO_NAMES;
  const varies = vary.includes('accept-encoding') || vary.includes('*');
  if (algorithm === null) {
    if (varies) return NOT_WANTED;
    return seen.vary ? { ...NOT_WANTED, remove: ['vary'], add: [mergedVary(headers)] } : NOT_WANTED_VARY;
  }
  const flush =
    seen.contentType.length >= EVENT_STREAM.length && mediaType(seen.contentType) === EVENT_STREAM;
  if (!flush && !seen.vary && seen.etag === '') {
    if (seen.ofPlainForm === NO_NAMES) return COMMON[algorithm].plain;
    if (seen.ofPlainForm.length === 1 && seen.ofPlainForm[0] === 'content-length')
      return COMMON[algorithm].sized;
  }
  const remove = [...seen.ofPlainForm];
  const add: (readonly [string, string])[] = [['content-encoding', algorithm]];
  if (!varies) {
    if (seen.vary) remove.push('vary');
    add.push(seen.vary ? mergedVary(headers) : VARY[0]!);
  }
  // Different byte sequences must not share a strong validator (RFC 9110 §8.8.3.3).
  if (seen.etag.startsWith('"')) {
    remove.push('etag');
    add.push(['etag', `W/${seen.etag}`]);
  }
  return { compress: algorithm, reason: 'compressed', flush, remove, add };
}

/** The relevant fields of a response. */
interface Seen {
  isEncoded: boolean;
  isEmpty: boolean;
  refusesTransform: boolean;
  vary: boolean;
  etag: string;
  contentType: string;
  /** Fields that are valid only for the bytes sent by the upstream: length, ranges and digests (RFC 9530). */
  ofPlainForm: readonly string[];
}

/** Reads all fields in one pass; name lengths exclude most of them without a comparison. */
const look: (headers: FieldList) => Readonly<Seen> = memoizeRecurring((headers) => {
  const seen: Seen = {
    isEncoded: false,
    isEmpty: false,
    refusesTransform: false,
    vary: false,
    etag: '',
    contentType: '',
    ofPlainForm: NO_NAMES,
  };
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at]!;
    const { length } = name;
    if (length === 4) {
      if (isName(name, 'vary')) seen.vary = true;
      else if (isName(name, 'etag')) seen.etag = headers[at + 1]!;
    } else if (length === 12) {
      if (isName(name, 'content-type')) seen.contentType = headers[at + 1]!;
    } else if (length === 16) {
      if (isName(name, 'content-encoding')) seen.isEncoded = true;
    } else if (length === 13 && isName(name, 'cache-control')) {
      seen.refusesTransform ||= refusesTransform(headers[at + 1]!);
    } else if (OF_PLAIN_FORM_LENGTHS.has(length)) {
      const lower = name.toLowerCase();
      if (!OF_PLAIN_FORM.has(lower)) continue;
      if (!seen.ofPlainForm.includes(lower)) seen.ofPlainForm = [...seen.ofPlainForm, lower];
      if (lower === 'content-length' && headers[at + 1] === '0') seen.isEmpty = true;
    }
  }
  return seen;
});

const OF_PLAIN_FORM: ReadonlySet<string> = new Set([
  'content-length',
  'accept-ranges',
  'content-md5',
  'digest',
  'content-digest',
  'repr-digest',
]);
const OF_PLAIN_FORM_LENGTHS: ReadonlySet<number> = new Set([...OF_PLAIN_FORM].map((name) => name.length));

interface Wishes {
  readonly acceptEncoding: string | undefined;
  readonly refusesTransform: boolean;
}

/** Where the values of a field are in lists with the same names. */
const placesOf = (lower: string) =>
  perNames((names) => names.flatMap((name, at) => (at % 2 === 0 && isName(name, lower) ? [at + 1] : [])));
const placesOfEncodings = placesOf('accept-encoding');
const placesOfControls = placesOf('cache-control');

/** All lines of `Accept-Encoding` as one, and whether the client forbids transformations. */
const lookAtRequest: (headers: FieldList) => Wishes = memoizeRecurring((headers) => {
  const names = fieldNamesOf(headers) ?? { like: headers, made: [] };
  let acceptEncoding: string | undefined;
  for (const place of placesOfEncodings(names)) {
    const value = headers[place]!;
    acceptEncoding = acceptEncoding === undefined ? value : `${acceptEncoding}, ${value}`;
  }
  let isRefused = false;
  for (const place of placesOfControls(names)) isRefused ||= refusesTransform(headers[place]!);
  return { acceptEncoding, refusesTransform: isRefused };
});

const NO_TRANSFORM_UNITS = 'no-transform'.length;

/** Client and upstream may forbid it (RFC 9111 §5.2.1.6 and §5.2.2.6). */
function refusesTransform(cacheControl: string): boolean {
  if (cacheControl.length < NO_TRANSFORM_UNITS) return false;
  return /no-transform/i.test(cacheControl) && /(?:^|,)\s*no-transform\s*(?:,|$)/i.test(cacheControl);
}

function mergedVary(headers: FieldList): readonly [string, string] {
  return ['vary', [...allValues(headers, 'vary'), 'Accept-Encoding'].join(', ')];
}

/**
 * The weight of each coding in `Accept-Encoding` (RFC 9110 §12.5.3), in thousandths; 0 means not acceptable.
 */
interface AcceptedCodings {
  /** By lower-case name; `x-gzip` is `gzip` (§8.4.1.3). */
  readonly named: ReadonlyMap<string, number>;
  /** The weight of `*`; undefined when absent. */
  readonly others: number | undefined;
}

// §12.4.2: up to three decimals, at most 1.
const MEMBER = /^([!#$%&'*+\-.^_`|~0-9a-z]+)(?:[ \t]*;[ \t]*q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?))?$/;

/**
 * Parses a field value, its lines joined by commas. Invalid members are ignored, so that a malformed one is
 * never taken for consent. When a coding is named twice, the lower weight counts.
 */
function parseAcceptEncoding(value: string): AcceptedCodings {
  const named = new Map<string, number>();
  for (const part of value.toLowerCase().split(',')) {
    const member = MEMBER.exec(part.trim());
    if (member === null) continue;
    const name = member[1] === 'x-gzip' ? 'gzip' : member[1]!;
    const thousandths = Math.round(Number(member[2] ?? 1) * 1_000);
    named.set(name, Math.min(thousandths, named.get(name) ?? thousandths));
  }
  const others = named.get('*');
  named.delete('*');
  return { named, others };
}

/** The weight of a coding (lower case): its own, else that of `*`, else 0. */
function weightOf(wishes: AcceptedCodings, coding: string): number {
  return wishes.named.get(coding) ?? wishes.others ?? 0;
}
