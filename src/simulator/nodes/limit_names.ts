import type { Exchange } from '../../engine/exchange.ts';
import { ACTION_FACTS } from '../../filters/table.ts';

/** Actions that count requests by a key. */
const LIMITS = new Set(
  [...ACTION_FACTS.values()].filter(({ countsBy }) => countsBy !== undefined).map(({ type }): string => type),
);

/** The names of the limits that have decided about a request, in the order of their steps. */
export function limitNames(exchange: Exchange): readonly string[] {
  const own = exchange.verdicts.flatMap((verdict) => verdict?.inner ?? []);
  const names = own.flatMap(({ name, detail }) => (LIMITS.has(name) ? [String(detail['name'])] : []));
  return exchange.inside === null ? names : [...names, ...limitNames(exchange.inside)];
}
