/**
 * The weight of each coding in `Accept-Encoding` (RFC 9110 §12.5.3), in thousandths; 0 means not acceptable.
 */
export interface AcceptedCodings {
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
export function parseAcceptEncoding(value: string): AcceptedCodings {
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
export function weightOf(wishes: AcceptedCodings, coding: string): number {
  return wishes.named.get(coding) ?? wishes.others ?? 0;
}
