import type { EdgeConfig } from '../../edge/document/schema.ts';
import type { Body } from './contract.ts';

/** The name of an object in an edge file is stored under this key. */
export const NAME_KEY = 'edge_file_name';

type Policy = EdgeConfig['ip_policies'][string];
type Rule = Policy['rules'][number];

/**
 * Policies and rules, by the bodies that they were built from: unchanged ones give the same object and are
 * compiled once.
 */
const policiesMade = new WeakMap<Body, { readonly bodies: readonly Body[]; readonly policy: Policy }>();
const rulesMade = new WeakMap<Body, Rule>();

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

function policyOf(policyBody: Body, bodies: readonly Body[]): Policy {
  const made = policiesMade.get(policyBody);
  const isSame =
    made?.bodies.length === bodies.length && made.bodies.every((body, index) => body === bodies[index]);
  if (made !== undefined && isSame) return made.policy;
  const rules = bodies.map((body, index) =>
    made?.bodies[index] === body ? made.policy.rules[index]! : ruleOf(body),
  );
  const policy = { rules };
  policiesMade.set(policyBody, { bodies, policy });
  return policy;
}

function ruleOf(body: Body): Rule {
  let rule = rulesMade.get(body);
  if (rule === undefined) {
    rule = { cidr: body['cidr'] as string, action: body['action'] as Rule['action'] };
    rulesMade.set(body, rule);
  }
  return rule;
}
