import { domainOf } from './fields.ts';
import { dfaOf } from './texts/dfa.ts';
import type { TextLiteral } from './texts/intersect.ts';
import { type AnyMachine, inAll } from './texts/machine.ts';
import { machine } from './texts/readings.ts';

/**
 * `req.host` is the host as it was sent: in any letter case, perhaps with a dot at its end, and with a port. The host itself
 * is made of it (`http/host.ts`), so what is known of the one is known of the other.
 */
export const SENT_HOST = 'req.host';

const [DOT, COLON, OPEN, CLOSE] = [46, 58, 91, 93];

interface Reading {
  readonly state: unknown;
  /** A dot that belongs to the host only if a character of it follows. */
  readonly hasDot: boolean;
  readonly at: 'start' | 'name' | 'address' | 'port';
}

/** The hosts as sent whose canonical form is in all sets; null if they are too many. */
export function sentHosts(hosts: readonly TextLiteral[]): TextLiteral | null {
  const inner = inAll([domainOf('host'), ...hosts]) as unknown as AnyMachine;
  const step = ({ state, hasDot, at }: Reading, point: number): Reading => {
    if (at === 'port' || (point === COLON && at !== 'address')) return { state, hasDot: false, at: 'port' };
    if (point === DOT && !hasDot) return { state, hasDot: true, at: at === 'start' ? 'name' : at };
    const before = hasDot ? inner.step(state, DOT) : state;
    if (point === DOT) return { state: before, hasDot: true, at };
    const isUpper = point >= 65 && point <= 90;
    const place =
      at === 'start' && point === OPEN ? 'address' : point === CLOSE || at === 'start' ? 'name' : at;
    return { state: inner.step(before, isUpper ? point + 32 : point), hasDot: false, at: place };
  };
  const cuts = [...inner.cuts, DOT, DOT + 1, COLON, COLON + 1, OPEN, OPEN + 1, CLOSE, CLOSE + 1, 97, 123];
  const dfa = dfaOf(
    machine<Reading>({
      start: { state: inner.start, hasDot: false, at: 'start' },
      keyOf: ({ state, hasDot, at }) => `${at} ${hasDot} ${inner.keyOf(state)}`,
      cuts: [...cuts, ...cuts.flatMap((cut) => (cut >= 97 && cut <= 123 ? [cut - 32] : []))],
      step,
      accepts: ({ state }) => inner.accepts(state),
    }),
  );
  return dfa === null ? null : { dfa, accepted: true };
}
