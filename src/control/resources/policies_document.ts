import { weakMemoize, weakMemoizeLast } from '../../caches/weak_memoize.ts';
import type { EdgeConfig } from '../../edge/document/schema.ts';
import type { Body } from './contract.ts';

/** The name of an object in an edge file is stored under this key. */
export const NAME_KEY = 'edge_file_name';

type Policy = EdgeConfig['ip_policies'][string];
type Rule = Policy['rules'][number];

/** The IP policies by id, and by the edge file names that policy texts use. */
export function policiesOf(
  objects: readonly { readonly id: string; readonly kind: string; readonly body: Body }[],
  rules: ReadonlyMap<string, readonly Body[]>,
): Record<string, Policy> {
  const policies: Record<string, Policy> = {};
  const named: (readonly [name: string, id: string])[] = [];
  for (const { id, kind, body } of objects) {
    if (kind !== 'ip_policy') continue;
    policies[id] = policyOf(body, rules.get(id)!);
    if (body[NAME_KEY] !== undefined) named.push([body[NAME_KEY] as string, id]);
  }
  if (named.length === 0) return policies;
  const texts = objects.flatMap(
    ({ body }) => (body['traffic_policy'] as { value: string } | undefined)?.value ?? [],
  );
  for (const [name, id] of named) {
    if (policies[name] === undefined && texts.some((text) => text.includes(name)))
      policies[name] = policies[id]!;
  }
  return policies;
}

/** Policies and rules by the bodies that they are built from: unchanged ones are the same object, compiled once. */
const policyOf = weakMemoizeLast((_: Body, bodies: readonly Body[]): Policy => ({
  rules: bodies.map(ruleOf),
}));

const ruleOf = weakMemoize((body: Body): Rule => ({
  cidr: body['cidr'] as string,
  action: body['action'] as Rule['action'],
}));
