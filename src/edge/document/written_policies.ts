import { pointerTo } from '../../diagnostics/diagnostic.ts';
import { LEGACY_PHASES, PHASES } from '../../filters/phase.ts';

/** Keys of a policy that is written as a map. */
export const POLICY_KEYS: readonly string[] = [...PHASES, ...Object.keys(LEGACY_PHASES)];

export type Plain = Readonly<Record<string, unknown>>;

export function isPlain(value: unknown): value is Plain {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A policy that is a map, as the text that its module has. */
export function policyText(given: Plain): string {
  return JSON.stringify(
    Object.fromEntries(POLICY_KEYS.flatMap((key) => (Object.hasOwn(given, key) ? [[key, given[key]]] : []))),
  );
}

/** A traffic policy as it is written, and its place. */
interface WrittenPolicy {
  readonly pointer: string;
  readonly policy: unknown;
}

/** The traffic policies of an edge file that was not checked yet. */
export function writtenPolicies(value: unknown): readonly WrittenPolicy[] {
  if (!isPlain(value) || !isPlain(value['edges'])) return [];
  const { https, tls, tcp } = value['edges'];
  const routes = entriesOf(https).flatMap(([name, edge]) => {
    const list: unknown = isPlain(edge) ? edge['routes'] : undefined;
    if (!Array.isArray(list)) return [];
    return list.map((route: unknown, index) =>
      policyIn(route, `${pointerTo('/edges/https', name)}/routes/${index}`),
    );
  });
  const streams = [
    ...entriesOf(tls).map(([name, edge]) => policyIn(edge, pointerTo('/edges/tls', name))),
    ...entriesOf(tcp).map(([name, edge]) => policyIn(edge, pointerTo('/edges/tcp', name))),
  ];
  return [...routes, ...streams].filter(({ policy }) => policy !== undefined);
}

function policyIn(owner: unknown, pointer: string): WrittenPolicy {
  return {
    pointer: `${pointer}/traffic_policy`,
    policy: isPlain(owner) ? owner['traffic_policy'] : undefined,
  };
}

function entriesOf(value: unknown): [string, unknown][] {
  return isPlain(value) ? Object.entries(value) : [];
}
