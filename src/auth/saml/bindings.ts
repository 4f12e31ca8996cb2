import { fromBase64 } from '../../crypto/base64.ts';
import { readRsaCertificate } from '../../crypto/x509.ts';
import type { SigningIdentity } from '../../crypto/issue_certificate.ts';
import { verifies } from '../../crypto/signatures.ts';
import type { LocalResponse } from '../../engine/questions.ts';
import { formPage } from '../pages.ts';
import { type Written, RSA_SHA256, canonical, rsaSignature, rsaSigner, withSignature } from './canonical.ts';
import { deflateStored, inflateRaw } from './inflate.ts';
import { MESSAGE_LIMIT_BYTES } from './message.ts';
import { type SamlRefusal, refuse } from './reasons.ts';

export type MessageField = 'SAMLRequest' | 'SAMLResponse';

/** A signed URL of the redirect binding (Bindings §3.4.4.1); null if the key is invalid. */
export function redirectUrl(
  to: string,
  field: MessageField,
  message: Written,
  relayState: string | null,
  identity: SigningIdentity,
): string | null {
  const encoded = Buffer.from(deflateStored(Buffer.from(canonical(message), 'utf8'))).toString('base64');
  const parts = [`${field}=${encodeURIComponent(encoded)}`];
  if (relayState !== null) parts.push(`RelayState=${encodeURIComponent(relayState)}`);
  parts.push(`SigAlg=${encodeURIComponent(RSA_SHA256)}`);
  const octets = parts.join('&');
  const signature = rsaSignature(octets, identity);
  if (signature === null) return null;
  return `${to}${to.includes('?') ? '&' : '?'}${octets}&Signature=${encodeURIComponent(signature)}`;
}

/**
 * A page that posts a signed message by script (Bindings §3.5.4), with a button for browsers without scripts.
 * Null if the key is invalid.
 */
export function postPage(
  to: string,
  field: MessageField,
  message: Written,
  relayState: string | null,
  identity: SigningIdentity,
): LocalResponse | null {
  const whole = withSignature(message, rsaSigner(identity));
  if (whole === null) return null;
  const encoded = Buffer.from(canonical(whole), 'utf8').toString('base64');
  return formPage(
    to,
    relayState === null
      ? [[field, encoded]]
      : [
          [field, encoded],
          ['RelayState', relayState],
        ],
  );
}

/** A message of the redirect binding with a verified signature. */
export interface RedirectMessage {
  readonly field: MessageField;
  readonly xml: string;
  readonly relayState: string | null;
}

// table: signature algorithms of the redirect binding, and their hashes
const HASHES = {
  [RSA_SHA256]: 'sha256',
  'http://www.w3.org/2001/04/xmldsig-more#rsa-sha512': 'sha512',
} as const;

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Reads a message of the redirect binding. The signature covers the parameters as sent, in the order of the
 * specification, so they are taken from the raw query; each may occur once.
 */
export function readRedirect(query: string, certificates: readonly string[]): RedirectMessage | SamlRefusal {
  const sent = new Map<string, string>();
  for (const piece of query.split('&')) {
    const name = piece.slice(0, Math.max(0, piece.indexOf('=')));
    if (sent.has(name) && KNOWN.has(name)) return refuse('message_repeated', { field: name });
    sent.set(name, piece);
  }
  if (sent.has('SAMLRequest') && sent.has('SAMLResponse')) return refuse('message_repeated');
  const field = sent.has('SAMLRequest') ? 'SAMLRequest' : 'SAMLResponse';
  if (!sent.has(field)) return refuse('message_missing');
  const problem = querySignatureProblem(sent, field, certificates);
  if (problem !== null) return problem;
  const deflated = fromBase64(valueOf(sent, field) ?? '');
  if (deflated === null) return refuse('base64_malformed');
  const bytes = inflateRaw(deflated, MESSAGE_LIMIT_BYTES);
  if (bytes === null) return refuse('deflate_malformed');
  try {
    return { field, xml: UTF8.decode(bytes), relayState: valueOf(sent, 'RelayState') };
  } catch {
    return refuse('encoding_malformed');
  }
}

const KNOWN: ReadonlySet<string> = new Set([
  'SAMLRequest',
  'SAMLResponse',
  'RelayState',
  'SigAlg',
  'Signature',
]);

function querySignatureProblem(
  sent: ReadonlyMap<string, string>,
  field: MessageField,
  certificates: readonly string[],
): SamlRefusal | null {
  const encoded = valueOf(sent, 'Signature');
  const algorithm = valueOf(sent, 'SigAlg');
  if (encoded === null || algorithm === null) return refuse('unsigned');
  const hash = HASHES[algorithm as keyof typeof HASHES];
  if (hash === undefined) return refuse('signature_algorithm', { algorithm });
  const signature = fromBase64(encoded);
  if (signature === null) return refuse('signature_malformed');
  const octets = [field, 'RelayState', 'SigAlg'].flatMap((name) => sent.get(name) ?? []).join('&');
  const isGood = certificates.some((pem) => {
    const certificate = readRsaCertificate(pem);
    return certificate !== null && verifies({ key: 'rsa', hash }, certificate.key, [octets], signature);
  });
  return isGood ? null : refuse('signature_invalid');
}

function valueOf(sent: ReadonlyMap<string, string>, name: string): string | null {
  const piece = sent.get(name);
  if (piece === undefined) return null;
  try {
    return decodeURIComponent(piece.slice(piece.indexOf('=') + 1).replaceAll('+', ' '));
  } catch {
    return null;
  }
}
