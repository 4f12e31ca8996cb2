import { codingWishes, wishFor } from '../http/accept_encoding.ts';
import { type FieldList, allValues, firstValue, hasField, isName, listMembers } from '../http/fields.ts';
import { mediaType } from '../http/media_type.ts';

/** `deflate` is the zlib format (RFC 9110 §8.4.1.2, RFC 1950), not bare deflate. */
export type Algorithm = 'gzip' | 'deflate';

/** Why a response is or is not compressed. */
export type CompressionCode =
  | 'compressed'
  | 'not_wanted'
  | 'no_body'
  | 'partial'
  | 'already_encoded'
  | 'no_transform';

export interface CompressionPlan {
  readonly compress: Algorithm | null;
  readonly because: CompressionCode;
  /** Whether each piece must leave at once: an event stream that waits for a full block is no stream. */
  readonly flush: boolean;
  /** Names to remove, lower case, and then fields to add, in the response. */
  readonly remove: readonly string[];
  readonly add: readonly (readonly [name: string, value: string])[];
}

/**
 * What the client wants most of `offered`, best first for equal wishes; null where it wants none of them, or wants
 * the plain form more than any (RFC 9110 §12.5.3). No header is no wish: allowed, but nothing a client without
 * `Accept-Encoding` may be surprised with. `acceptEncoding` is all lines of the field, joined by commas.
 */
export function negotiate(
  acceptEncoding: string | undefined,
  offered: readonly Algorithm[],
): Algorithm | null {
  if (acceptEncoding === undefined) return null;
  const wishes = codingWishes(acceptEncoding);
  // The plain form competes only when it is named: a bare `*` is not a wish for it.
  let best = Math.max(1, wishes.named.get('identity') ?? 0);
  let chosen: Algorithm | null = null;
  for (const algorithm of offered) {
    const wish = wishFor(wishes, algorithm);
    if (chosen === null ? wish >= best : wish > best) {
      best = wish;
      chosen = algorithm;
    }
  }
  return chosen;
}

const KEPT_ANSWERS = 256;
const KEPT_UNITS = 256;

/** `negotiate` for one offer that remembers the header values of common clients, a bounded number of them. */
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

const NO_REMOVALS: readonly string[] = [];
const NO_ADDITIONS: CompressionPlan['add'] = [];
const VARY: CompressionPlan['add'] = [['vary', 'Accept-Encoding']];

/** Leaves the response as it is. */
function untouched(because: CompressionCode): CompressionPlan {
  return { compress: null, because, flush: false, remove: NO_REMOVALS, add: NO_ADDITIONS };
}

const NO_BODY = untouched('no_body');
const PARTIAL = untouched('partial');
const ALREADY_ENCODED = untouched('already_encoded');
const NO_TRANSFORM = untouched('no_transform');
const NOT_WANTED = untouched('not_wanted');
const NOT_WANTED_VARY: CompressionPlan = { ...NOT_WANTED, add: VARY };

const wantedOfBoth = negotiator(['gzip', 'deflate']);

/**
 * Whether and how a response is compressed, and what that changes in its head. Any media type and size qualifies. A
 * response that would be compressed for another client says so in `Vary`, for the sake of caches on the way.
 */
export function compressionPlan(
  request: { readonly method: string; readonly headers: FieldList },
  response: { readonly status: number; readonly headers: FieldList },
): CompressionPlan {
  const excused = excuse(request, response);
  if (excused !== null) return excused;
  const { headers } = response;
  const algorithm = wantedOfBoth(joined(request.headers, 'accept-encoding'));
  const vary = listMembers(headers, 'vary');
  const varies = vary.includes('accept-encoding') || vary.includes('*');
  if (algorithm === null) {
    if (varies) return NOT_WANTED;
    return vary.length === 0
      ? NOT_WANTED_VARY
      : { ...NOT_WANTED, remove: ['vary'], add: [mergedVary(headers)] };
  }
  const remove: string[] = [];
  const add: (readonly [string, string])[] = [['content-encoding', algorithm]];
  for (const name of OF_THE_PLAIN_FORM) if (hasField(headers, name)) remove.push(name);
  if (!varies) {
    if (vary.length > 0) remove.push('vary');
    add.push(mergedVary(headers));
  }
  // Two byte sequences may not share a strong validator (RFC 9110 §8.8.3.3).
  const etag = firstValue(headers, 'etag');
  if (etag?.startsWith('"') === true) {
    remove.push('etag');
    add.push(['etag', `W/${etag}`]);
  }
  const flush = mediaType(firstValue(headers, 'content-type') ?? '') === 'text/event-stream';
  return { compress: algorithm, because: 'compressed', flush, remove, add };
}

/** Fields that are true only of the bytes as the upstream sent them: length, ranges and digests (RFC 9530). */
const OF_THE_PLAIN_FORM = [
  'content-length',
  'accept-ranges',
  'content-md5',
  'digest',
  'content-digest',
  'repr-digest',
] as const;

function excuse(
  request: { readonly method: string; readonly headers: FieldList },
  response: { readonly status: number; readonly headers: FieldList },
): CompressionPlan | null {
  const { status, headers } = response;
  if (request.method === 'HEAD' || status < 200 || status === 204 || status === 205 || status === 304)
    return NO_BODY;
  if (status === 206) return PARTIAL;
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at]!;
    // The lengths tell most fields apart without a look at the letters.
    if (name.length === 14 && isName(name, 'content-length')) {
      if (headers[at + 1] === '0') return NO_BODY;
    } else if (name.length === 16 && isName(name, 'content-encoding')) return ALREADY_ENCODED;
  }
  if (refusesTransform(headers) || refusesTransform(request.headers)) return NO_TRANSFORM;
  return null;
}

/** RFC 9111 §5.2.1.6 and §5.2.2.6: both sides may forbid it. */
function refusesTransform(headers: FieldList): boolean {
  return hasField(headers, 'cache-control') && listMembers(headers, 'cache-control').includes('no-transform');
}

function joined(headers: FieldList, lower: string): string | undefined {
  const first = firstValue(headers, lower);
  if (first === undefined) return undefined;
  const all = allValues(headers, lower);
  return all.length === 1 ? first : all.join(', ');
}

function mergedVary(headers: FieldList): readonly [string, string] {
  return ['vary', [...allValues(headers, 'vary'), 'Accept-Encoding'].join(', ')];
}
