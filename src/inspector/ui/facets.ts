/** Which rows the list shows: values that were clicked and text. Values in, values out. */
import type { Row } from '../wire.ts';

// table: values of rows that can be clicked, with their names for people
export const FACETS = {
  protocol: 'protocol',
  method: 'method',
  status: 'status',
  host: 'host',
  path: 'path',
  by: 'decided by',
  code: 'reason',
  verdict: 'verdict',
  backend: 'backend',
  agent: 'agent',
  client: 'client',
  resent: 'sent again from',
} as const;

export type FacetName = keyof typeof FACETS;

export interface Facet {
  readonly name: FacetName;
  readonly value: string;
  readonly isNegated: boolean;
}

/** What the list is reduced to; empty parts hold for every row. */
export interface Filter {
  readonly text: string;
  readonly facets: readonly Facet[];
  /** Rows in whose headers or bodies the server found the text. */
  readonly found: ReadonlySet<number>;
}

/** The path of a target, without its query. */
function pathOf(target: string): string {
  const at = target.indexOf('?');
  return at === -1 ? target : target.slice(0, at);
}

/** The value of a row; empty if it has none. */
export function facetValue(row: Row, name: FacetName): string {
  switch (name) {
    case 'protocol':
      return row.protocol;
    case 'host':
      return row.host;
    case 'by':
      return row.by;
    case 'code':
      return row.code;
    case 'verdict':
      return row.verdict ?? '';
    case 'backend':
      return row.backend ?? '';
    case 'agent':
      return row.tunnel ?? '';
    case 'client':
      return row.clientIp;
    case 'method':
      return row.kind === 'exchange' ? row.method : '';
    case 'status':
      return row.kind === 'exchange' ? String(row.status ?? '') : '';
    case 'path':
      return row.kind === 'exchange' ? pathOf(row.target) : '';
    case 'resent':
      return row.kind === 'exchange' ? String(row.resentFrom ?? '') : '';
  }
}

function holds(row: Row, { name, value, isNegated }: Facet): boolean {
  const own = facetValue(row, name);
  // `4xx` is every status of its class.
  const isClass = name === 'status' && /^\dxx$/.test(value);
  const isEqual = isClass ? own.startsWith(value[0]!) : own === value;
  return isEqual !== isNegated;
}

/** What the text of a filter is sought in. */
function textOf(row: Row): string {
  const common = `${row.host} ${row.protocol} ${row.by} ${row.code} ${row.backend ?? ''} ${row.clientIp}`;
  return row.kind === 'exchange'
    ? `${row.method} ${row.target} ${row.status ?? ''} ${common}`
    : `${row.edge ?? ''} ${common}`;
}

/** A predicate of the filter; facets of one name are alternatives, unless they are negated. */
export function predicateOf({ text, facets, found }: Filter): (row: Row) => boolean {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const negated = facets.filter(({ isNegated }) => isNegated);
  const named = Map.groupBy(
    facets.filter(({ isNegated }) => !isNegated),
    ({ name }) => name,
  );
  const groups = [...named.values()];
  return (row) => {
    if (!negated.every((facet) => holds(row, facet))) return false;
    if (!groups.every((group) => group.some((facet) => holds(row, facet)))) return false;
    if (words.length === 0 || found.has(row.seq)) return true;
    const own = textOf(row).toLowerCase();
    return words.every((word) => own.includes(word));
  };
}
