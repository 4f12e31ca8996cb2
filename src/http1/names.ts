/** The kinds of fields that matter for the message or the connection; `other` for almost all fields. */
export const KIND = {
  other: 0,
  host: 1,
  contentLength: 2,
  transferEncoding: 3,
  connection: 4,
  upgrade: 5,
  expect: 6,
  te: 7,
  keepAlive: 8,
} as const;

const KINDS: ReadonlyMap<string, number> = new Map([
  ['host', KIND.host],
  ['content-length', KIND.contentLength],
  ['transfer-encoding', KIND.transferEncoding],
  ['connection', KIND.connection],
  ['upgrade', KIND.upgrade],
  ['expect', KIND.expect],
  ['te', KIND.te],
  ['keep-alive', KIND.keepAlive],
]);

/** A field name as spelled, and the kind of its field. */
export interface Name {
  readonly text: string;
  readonly kind: number;
}

/**
 * A direct-mapped cache of recent names: clients send few, and a cached name needs no new string and no case
 * folding. Entries are compared byte by byte, so a collision only costs time.
 */
const PLACES = 1_024;
const LONGEST = 64;
const known: (Name | undefined)[] = Array.from({ length: PLACES });

/** The name in `bytes[from..to)`; `hash` is any number computed from these bytes only. */
export function nameAt(bytes: Buffer, from: number, to: number, hash: number): Name {
  const place = hash & (PLACES - 1);
  const before = known[place];
  if (before !== undefined && isSpelled(before.text, bytes, from, to)) return before;
  const text = bytes.toString('latin1', from, to);
  const name: Name = { text, kind: KINDS.get(text.toLowerCase()) ?? KIND.other };
  if (to - from <= LONGEST) known[place] = name;
  return name;
}

function isSpelled(text: string, bytes: Buffer, from: number, to: number): boolean {
  const { length } = text;
  if (length !== to - from) return false;
  for (let at = 0; at < length; at++) if (text.charCodeAt(at) !== bytes[from + at]) return false;
  return true;
}
