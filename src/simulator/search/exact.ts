import { type DeadPart, deadParts } from '../../analysis/findings.ts';
import { type NearClass, nearest } from '../../analysis/nearest.ts';
import { type CoveredEdge, hasOpen } from '../../coverage/coverage.ts';
import type { CoveragePoint } from '../../coverage/point.ts';
import { allValues } from '../../http/fields.ts';
import { parseAddress } from '../../net/address.ts';
import { type Change, changesOf } from './changes.ts';
import { type Draft, FRAMING, preparedDraft } from './draft.ts';
import { NO_POOLS, type Pools } from './pools.ts';

/** The points of an edge, with those that exact analysis proves to be impossible marked. */
export function withProofs(covered: CoveredEdge): CoveredEdge {
  if (!hasOpen(covered)) return covered;
  const dead = deadParts(covered.config);
  if (dead.length === 0) return covered;
  const points = covered.points.map((point) => {
    const by = point.impossible === null ? dead.find((part) => isOf(point, part)) : undefined;
    if (by === undefined) return point;
    const takers = covered.rules.filter(({ pointer }) => by.causes.includes(pointer));
    const names = takers.map(({ label }) => `'${label}'`).join(', ');
    const reason = takers.length === 0 ? '' : `: rules before it take them (${names})`;
    return { ...point, impossible: `${by.message}, which is proved${reason}` };
  });
  return { ...covered, points };
}

/** Whether a point cannot be covered because no request reaches a part. */
function isOf({ pointer, kind, routes }: CoveragePoint, { kind: dead, pointer: part }: DeadPart): boolean {
  const isOnly = routes.length > 0 && routes.every((route) => route === part);
  switch (dead) {
    case 'route':
      // Its paths are reached through other routes.
      return kind !== 'paths' && (isOnly || pointer === part || pointer.startsWith(`${part}/`));
    case 'backend':
      // Its modules and rules still run.
      return isOnly && (kind === 'backends' || (kind === 'modules' && pointer === `${part}/backend`));
    case 'rule':
      // Its expressions may still be evaluated.
      return (pointer === part && kind === 'rules') || pointer.startsWith(`${part}/actions/`);
    case 'action':
      return pointer === part || pointer.startsWith(`${part}/`);
  }
}

/** Changes of a draft that exact analysis offers. */
export interface ExactChanges {
  readonly sets: readonly (readonly Change[])[];
  /** No request with fewer changed fields reaches the part; null if that is not known. */
  readonly fewest: number | null;
}

/** More classes are not tried. */
const CLASS_LIMIT = 200;

/** The smallest changes of a draft after which it may reach one of the parts at these pointers. */
export function exactChanges(
  { config }: CoveredEdge,
  draft: Draft,
  pointers: readonly string[],
): ExactChanges {
  const none = { sets: [], fewest: null };
  const prepared = preparedDraft(draft);
  const client = parseAddress(draft.ip);
  if (pointers.length === 0 || prepared === null || 'refused' in prepared.head || client === null)
    return none;
  const { head } = prepared;
  const params = new URLSearchParams(draft.query);
  const valuesOf = (field: string): string | readonly string[] | undefined => {
    const [kind, name = ''] = field.split(' ');
    if (kind === 'header') return allValues(head.headers, name);
    if (kind === 'query') return params.getAll(name);
    if (kind === 'cookie') return cookiesIn(allValues(head.headers, 'cookie'), name);
    if (kind === 'req.url.raw_path') return draft.path;
    return kind === 'path' || kind === 'host' || kind === 'method' || kind === 'scheme'
      ? head[kind]
      : undefined;
  };
  const { classes, fewest } = nearest(config, new Set(pointers), { valuesOf, client });
  const sets = classes.slice(0, CLASS_LIMIT).flatMap((near) => {
    const pools = poolsFor(near);
    return pools === null ? [] : [changesOf(draft, pools)];
  });
  return { sets, fewest };
}

function cookiesIn(fields: readonly string[], name: string): readonly string[] {
  return fields
    .flatMap((field) => field.split(';'))
    .map((pair) => pair.trim())
    .flatMap((pair) => (pair.startsWith(`${name}=`) ? [pair.slice(name.length + 1)] : []));
}

/** Pools with one value for each field that has to change; null if a field would need several. */
function poolsFor({ fields, client }: NearClass): Pools | null {
  const named = { header: new Map(), query: new Map(), cookie: new Map() } as Readonly<
    Record<string, Map<string, ReadonlySet<string | null>>>
  >;
  const plain: Record<string, ReadonlySet<string>> = {};
  for (const [field, values] of fields) {
    // What follows from the host and the body cannot be chosen.
    if (values.length > 1 || FRAMING.has(field.replace('header ', ''))) return null;
    const [kind = '', name] = field.split(' ');
    if (name !== undefined) named[kind]?.set(name, new Set([values[0] ?? null]));
    else plain[kind] = new Set(values);
  }
  const agent = named['header']!.get('user-agent');
  named['header']!.delete('user-agent');
  return {
    ...NO_POOLS,
    paths: plain['path'] ?? NO_POOLS.paths,
    hosts: plain['host'] ?? NO_POOLS.hosts,
    methods: plain['method'] ?? NO_POOLS.methods,
    schemes: (plain['scheme'] as Pools['schemes'] | undefined) ?? NO_POOLS.schemes,
    addresses: new Set(client === null ? [] : [client]),
    agents: agent ?? NO_POOLS.agents,
    headers: named['header']!,
    parameters: named['query']!,
    cookies: named['cookie']!,
  };
}
