import { type FieldList, NO_FIELDS } from './fields.ts';
import { foldedName, isFraming, isHopByHop } from './forwarding.ts';

/**
 * Fields that are not allowed in trailers, because a recipient that merges trailers into the head would trust
 * them (RFC 9110 §6.5.1): routing, request modifiers and conditions, authentication, caching and response
 * control, content format, and client addresses.
 */
const ONLY_IN_HEADS: ReadonlySet<string> = new Set(
  `host max-forwards te trailer via forwarded
  cache-control expect pragma range if-match if-none-match if-modified-since if-unmodified-since if-range
  authorization authentication-info cookie proxy-authenticate proxy-authentication-info proxy-authorization set-cookie
  set-cookie2 www-authenticate
  accept-ranges age alt-svc clear-site-data content-security-policy content-security-policy-report-only date expires
  location origin referrer-policy refresh retry-after strict-transport-security vary warning x-content-type-options
  x-frame-options
  content-disposition content-encoding content-language content-length content-location content-range content-type
  x-real-ip`.split(/\s+/),
);

const ALIKE = /^(?::|x-forwarded-|access-control-|cross-origin-)|-(?:auth|mtls)-|^[^a-z0-9]*$/;

/** Whether field `lower` (a lower-case name) may be passed on in a trailer section. */
export function isTrailer(lower: string): boolean {
  // Recipients that fold `_` to `-` must not see a forbidden name.
  const folded = lower.replaceAll(/[^a-z0-9]/g, '-');
  return (
    !isHopByHop(folded) &&
    !isFraming(folded) &&
    !ONLY_IN_HEADS.has(folded) &&
    !ALIKE.test(lower) &&
    !ALIKE.test(folded)
  );
}

/** The trailers in `fields` that may be passed on. */
export function passedTrailers(fields: FieldList): FieldList {
  if (fields.length === 0) return NO_FIELDS;
  const out: string[] = [];
  for (let at = 0; at < fields.length; at += 2) {
    if (isTrailer(fields[at]!.toLowerCase())) out.push(fields[at]!, fields[at + 1]!);
  }
  return out;
}

/**
 * The trailers in `fields` without those of these names (in lower case), or that recipients such as CGI programs cannot
 * tell from them: what is kept secret in a head must not pass here.
 */
export function withoutNames(fields: FieldList, names: readonly string[] | undefined): FieldList {
  if (fields.length === 0 || names === undefined) return fields;
  const folded = new Set(names.map(foldedName));
  const out: string[] = [];
  for (let at = 0; at < fields.length; at += 2) {
    if (!folded.has(foldedName(fields[at]!))) out.push(fields[at]!, fields[at + 1]!);
  }
  return out;
}
