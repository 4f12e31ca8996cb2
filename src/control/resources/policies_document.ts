import { weakMemoize } from '../../caches/weak_memoize.ts';
import { KeyedList } from '../../caches/keyed_list.ts';
import { type IpRuleConfig, policyWithRules } from '../../edge/document/rule_lists.ts';
import type { EdgeConfig } from '../../edge/document/schema.ts';
import type { Body, ResourceObject } from './contract.ts';

/** The name of an object in an edge file is stored under this key. */
export const NAME_KEY = 'edge_file_name';

type Policy = EdgeConfig['ip_policies'][string];

/** The rules of an IP policy by their ids, oldest first. */
export type PolicyRules = KeyedList<IpRuleConfig>;

export const NO_RULES: PolicyRules = KeyedList.of<IpRuleConfig>([]);

/** The rules of a policy, from their ids and bodies in ascending order of ids. */
export function policyRules(given: readonly (readonly [id: string, body: Body])[]): PolicyRules {
  return KeyedList.of(
    given.map(([, body]) => ruleOf(body)),
    given.map(([id]) => id),
  );
}

/** The rules with those that were added, changed, or removed, whose body is null. */
export function withRules(rules: PolicyRules, changes: ReadonlyMap<string, Body | null>): PolicyRules {
  return rules.with(new Map(Array.from(changes, ([id, body]) => [id, body === null ? null : ruleOf(body)])));
}

function ruleOf(body: Body): IpRuleConfig {
  return Object.freeze({ cidr: body['cidr'] as string, action: body['action'] as IpRuleConfig['action'] });
}

/**
 * The IP policies by id, and by the edge file names that policy texts may use. A policy with the same rules is the same
 * object, which is compiled once.
 */
export function policiesOf(
  policies: Iterable<ResourceObject>,
  rulesOf: (policy: string) => PolicyRules,
): EdgeConfig['ip_policies'] {
  const found: Record<string, Policy> = {};
  const named: (readonly [name: string, id: string])[] = [];
  const sorted = [...policies].sort((one, other) => (one.id < other.id ? -1 : 1));
  for (const { id, body } of sorted) {
    found[id] = policyOf(rulesOf(id));
    if (body[NAME_KEY] !== undefined) named.push([body[NAME_KEY] as string, id]);
  }
  for (const [name, id] of named) found[name] ??= found[id]!;
  return found;
}

const policyOf = weakMemoize(policyWithRules);
