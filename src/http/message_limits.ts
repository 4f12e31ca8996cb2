/** Size limits of a message. A head beyond them is refused, and content is cut off. */
export interface WireLimits {
  /** First line and fields together, in bytes: 431. */
  readonly headBytes: number;
  /** Field lines of a head: 431. */
  readonly fields: number;
  /** Request target, in bytes: 414. */
  readonly targetBytes: number;
  /** Extensions of all chunks of one message together, in bytes: 413. */
  readonly extensionBytes: number;
  /** Trailer section, in bytes: 431. */
  readonly trailerBytes: number;
}

/** The service documents 1 MB of head; the rest is our choice. */
export const WIRE_LIMITS: WireLimits = {
  headBytes: 1_048_576,
  fields: 10_000,
  targetBytes: 65_536,
  extensionBytes: 16_384,
  trailerBytes: 16_384,
};

/** Maximum number of interim responses; an upstream that sends more is faulty or hostile. */
export const INTERIM_LIMIT = 100;

/** Maximum wait for the head of an upstream's response, in ms. Our choice. */
export const RESPONSE_HEAD_MS = 60_000;

/** More parameters than any form has that the edge itself reads; parsing millions would exhaust the memory. */
const PARAMETERS_LIMIT = 1_000;

const AMPERSAND = 0x26;

/** Whether a form body has too many parameters to be parsed. */
export function isFormTooLong(bytes: Uint8Array): boolean {
  let found = 0;
  for (let at = bytes.indexOf(AMPERSAND); at >= 0; at = bytes.indexOf(AMPERSAND, at + 1))
    if (++found >= PARAMETERS_LIMIT) return true;
  return false;
}
