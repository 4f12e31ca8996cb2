import { type Piece, digest } from '../crypto/digest.ts';
import { readPrivateKey } from '../crypto/keys.ts';
import { signed } from '../crypto/signatures.ts';
import { type FieldList, allValues, firstValue, withoutField } from '../http/fields.ts';
import { fieldDefaults, notificationDraft, withBodyHash, withJsonMembers } from './draft.ts';
import { parseTemplate, messagesOf } from './message.ts';
import { formatInstant } from './instants.ts';
import { prepareScheme } from './prepare.ts';
import type { Place, Provider, Scheme } from './provider.ts';
import { type WebhookRequest, readingOf } from './reading.ts';
import { keyKind, prepareKey } from './secret.ts';
import { expectedSignature } from './verify.ts';

export interface SignOptions {
  /** The scheme to use; by default the first one that applies to the secret. */
  readonly scheme?: string;
  /** Values of further signed fields, such as `id` or `nonce`; by default derived from the time. */
  readonly fields?: Readonly<Record<string, string>>;
}

/** The signed request with its added headers in order, or the problem. */
export type Signed =
  | { readonly request: WebhookRequest; readonly scheme: string; readonly added: FieldList }
  | { readonly problem: string };

/**
 * Signs a request as the provider would. For providers with public keys, `secret` is the private key: PEM,
 * base64 of PKCS#8, or `whsk_…`. Some providers put the signature into the body, which then differs from the
 * draft.
 *
 * @param nowMs Milliseconds since the epoch; the signed time.
 */
export function signWebhook(
  provider: Provider,
  secret: string,
  draft: WebhookRequest,
  nowMs: number,
  options: SignOptions = {},
): Signed {
  const scheme = schemeFor(provider, secret, options.scheme);
  if (scheme === undefined)
    return { problem: `provider ${provider.id} has no scheme ${options.scheme ?? 'for this secret'}` };
  const key = signingKey(scheme, secret);
  if ('problem' in key) return { problem: `the secret for provider ${provider.id} ${key.problem}` };
  const filled = fill(scheme, draft, nowMs, options.fields ?? {});
  if ('problem' in filled) return filled;
  const reading = readingOf(filled.request);
  const values: Record<string, string> = { ...filled.values, secret: key.text };
  const messages = messagesOf(parseTemplate(scheme.signs), reading, values, scheme.url);
  if ('problem' in messages) return { problem: `this request cannot be signed: ${messages.problem}` };
  const placed = place(
    filled.request,
    [[scheme.signature[0]!, key.sign(messages.messages[0]!)]],
    scheme.memberOrder,
  );
  if ('problem' in placed) return placed;
  return { request: placed, scheme: scheme.name, added: addedTo(draft.headers, placed.headers) };
}

function schemeFor(provider: Provider, secret: string, name: string | undefined): Scheme | undefined {
  const isAsymmetric = secret.startsWith('whsk_');
  return provider.schemes.find((scheme) =>
    name === undefined ? (scheme.algorithm === 'ed25519') === isAsymmetric : scheme.name === name,
  );
}

interface SigningKey {
  readonly text: string;
  readonly sign: (message: readonly Piece[]) => string;
}

function signingKey(scheme: Scheme, secret: string): SigningKey | { readonly problem: string } {
  if (scheme.key === 'public_key' || scheme.key === 'none') {
    const kind = keyKind(scheme);
    const key = readPrivateKey(secret.replace(/^whsk_/, ''), kind);
    if ('problem' in key) return key;
    const how = { key: kind, hash: kind === 'ed25519' ? null : 'sha256' } as const;
    return { text: '', sign: (message) => Buffer.from(signed(how, key, message)).toString('base64') };
  }
  const key = prepareKey(scheme, secret);
  if ('problem' in key) return key;
  const prepared = prepareScheme(scheme, key);
  return {
    text: key.text,
    sign: (message) => expectedSignature(prepared, message) ?? '',
  };
}

type Filled =
  | { readonly request: WebhookRequest; readonly values: Readonly<Record<string, string>> }
  | { readonly problem: string };

/** Fills in everything that is signed: timestamp, ids, and the header with the version. */
function fill(
  scheme: Scheme,
  draft: WebhookRequest,
  nowMs: number,
  given: Readonly<Record<string, string>>,
): Filled {
  const { timestamp } = scheme;
  let request = scheme.algorithm === 'rsa_certificate' ? notificationDraft(draft, nowMs) : draft;
  if (scheme.signs.includes('{form_or_body_hash}'))
    request = withBodyHash(request, digest('sha256', [request.body], 'hex'));
  const values: Record<string, string> = {};
  const places: (readonly [Place, string])[] = [];
  if (timestamp !== undefined) {
    values['timestamp'] = given['timestamp'] ?? formatInstant(nowMs, timestamp.unit);
    places.push([timestamp.at, values['timestamp']]);
  }
  const defaults = fieldDefaults(nowMs);
  for (const [name, at] of Object.entries(scheme.fields ?? {})) {
    values[name] = given[name] ?? defaults[name] ?? '';
    places.push([at, values[name]]);
  }
  if (scheme.when !== undefined) places.push([scheme.when.at, scheme.when.is]);
  const placed = place(request, places, scheme.memberOrder);
  return 'problem' in placed ? placed : { request: placed, values };
}

/** Writes values to their places; members of a list header share one line. */
function place(
  request: WebhookRequest,
  values: readonly (readonly [Place, string])[],
  memberOrder: readonly string[] | undefined,
): WebhookRequest | { readonly problem: string } {
  let { headers, body } = request;
  for (const [at, value] of values) {
    if ('json' in at) {
      const changed = withJsonMembers(body, at.json, value);
      if (changed === null)
        return { problem: `the body must be a JSON object: the provider writes ${at.json} into it` };
      body = changed;
    } else if ('form' in at) {
      const text = Buffer.from(body).toString('utf8');
      body = Buffer.from(`${text}${text === '' ? '' : '&'}${at.form}=${encodeURIComponent(value)}`, 'utf8');
    } else headers = withHeader(headers, at, value, memberOrder);
  }
  return { ...request, headers, body };
}

function withHeader(
  headers: FieldList,
  at: Extract<Place, { header: string }>,
  value: string,
  memberOrder: readonly string[] | undefined,
): FieldList {
  if (!('list' in at)) return [...withoutField(headers, at.lower), at.header, `${at.prefix}${value}`];
  const present = firstValue(headers, at.lower);
  const members = present === undefined ? [] : present.split(at.list);
  members.push(`${at.key}${at.assign}${value}`);
  const rank = (member: string) => memberOrder?.findIndex((key) => member.startsWith(key + at.assign)) ?? 0;
  if (memberOrder !== undefined) members.sort((one, other) => rank(one) - rank(other));
  return [...withoutField(headers, at.lower), at.header, members.join(at.list)];
}

function addedTo(before: FieldList, after: FieldList): FieldList {
  const added: string[] = [];
  for (let at = 0; at < after.length; at += 2) {
    const name = after[at]!;
    const value = after[at + 1]!;
    if (!allValues(before, name.toLowerCase()).includes(value)) added.push(name, value);
  }
  return added;
}

/** The media type of a provider's bodies: a form if form parameters are signed, otherwise JSON. */
export function mediaTypeOf(provider: Provider): string {
  const isForm = provider.schemes[0].signs.includes('{form');
  return isForm || provider.id === 'plivo' ? 'application/x-www-form-urlencoded' : 'application/json';
}
