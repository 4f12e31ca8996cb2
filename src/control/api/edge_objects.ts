import { isDeepStrictEqual } from 'node:util';
import type { EdgeConfig } from '../../edge/document/schema.ts';
import type { Body, ResourceObject } from '../resources/contract.ts';
import { EDGE_KINDS } from '../resources/edge_document.ts';
import { referencesIn } from '../resources/parse.ts';
import { resourceOfKind } from '../resources/table.ts';
import {
  type PolicyRules,
  NO_RULES,
  policiesOf,
  policyRules,
  withRules,
} from '../resources/policies_document.ts';

/** An object that a write created, updated or removed. */
export interface Touched {
  readonly object: ResourceObject;
  readonly isGone: boolean;
}

/** The objects of the edge in memory, so that a write reads only those that it concerns. */
export interface EdgeObjects {
  readonly get: (id: string) => ResourceObject | undefined;
  /** Objects of a kind, in no order; rules of IP policies are not among them. */
  readonly ofKind: (kind: string) => Iterable<ResourceObject>;
  /** The routes of an HTTPS edge, in no order. */
  readonly routesOf: (edge: string) => Iterable<ResourceObject>;
  /** The objects whose checks depend on the content of a backend, and which refer to it, in no order. */
  readonly usersOf: (backend: string) => Iterable<ResourceObject>;
  /** The IP policies: the same object as long as none changes. */
  readonly policies: () => EdgeConfig['ip_policies'];
  /** Takes the changes of a write in; returns what takes them back. */
  readonly take: (touched: readonly Touched[]) => () => void;
}

const POLICY_KIND = 'ip_policy';
const RULE_KIND = 'ip_policy_rule';
const ROUTE_KIND = 'https_edge_route';
/** Kinds whose checks depend on the contents of backends. */
const USERS: ReadonlySet<string> = new Set(['weighted_backend', 'failover_backend', 'tls_edge', 'tcp_edge']);
type ById = Map<string, ResourceObject>;

/** The ids that an object refers to. */
function namesIn(object: ResourceObject | undefined): string[] {
  if (object === undefined) return [];
  return referencesIn(resourceOfKind(object.kind), object.body).map(({ id }) => id);
}

/** Starts with the objects of a store. */
export function edgeObjects(stored: readonly ResourceObject[]): EdgeObjects {
  const byId: ById = new Map();
  const byKind = new Map(EDGE_KINDS.map((kind): [string, ById] => [kind, new Map()]));
  const routes = new Map<string, ById>();
  const users = new Map<string, ById>();
  const rules = rulesByPolicy(stored);
  for (const object of stored) if (object.kind !== RULE_KIND) set(object, object);
  const linked = () => policiesOf(byKind.get(POLICY_KIND)!.values(), rules.of);
  let policies = linked();

  /** Sets the object at a place; undefined removes it. */
  function set({ id, kind, parent }: ResourceObject, object: ResourceObject | undefined): void {
    if (USERS.has(kind)) {
      for (const used of namesIn(byId.get(id))) setIn(users, used, id, undefined);
      for (const used of namesIn(object)) setIn(users, used, id, object);
    }
    if (kind === ROUTE_KIND) setIn(routes, parent!, id, object);
    for (const map of [byId, byKind.get(kind)!]) {
      if (object === undefined) map.delete(id);
      else map.set(id, object);
    }
  }

  return {
    get: (id) => byId.get(id),
    ofKind: (kind) => byKind.get(kind)!.values(),
    routesOf: (edge) => (routes.get(edge) ?? NONE).values(),
    usersOf: (backend) => (users.get(backend) ?? NONE).values(),
    policies: () => policies,
    take: (touched) => {
      const before = policies;
      const back = touched.flatMap(({ object, isGone }) => {
        if (object.kind === RULE_KIND || !byKind.has(object.kind)) return [];
        const former = byId.get(object.id);
        set(object, isGone ? undefined : withKnownParts(object, former));
        return [() => set(object, former)];
      });
      const rulesBack = rules.take(touched);
      if (touched.some(({ object: { kind } }) => kind === POLICY_KIND || kind === RULE_KIND))
        policies = linked();
      return () => {
        rulesBack();
        for (const undo of back.toReversed()) undo();
        policies = before;
      };
    },
  };
}

const NONE: ById = new Map();

/** An object with those parts of its former version that are equal: what was compiled of them is kept. */
function withKnownParts(object: ResourceObject, former: ResourceObject | undefined): ResourceObject {
  if (former === undefined) return object;
  const parts = Object.entries(object.body).map(([name, part]) => {
    const known = former.body[name];
    return [name, isDeepStrictEqual(part, known) ? known : part] as const;
  });
  return { ...object, body: Object.fromEntries(parts) };
}

/** Sets an object of a parent; undefined removes it, and a parent without objects. */
function setIn(
  parents: Map<string, ById>,
  parent: string,
  id: string,
  object: ResourceObject | undefined,
): void {
  const known: ById = parents.get(parent) ?? new Map();
  if (object === undefined) known.delete(id);
  else known.set(id, object);
  if (known.size === 0) parents.delete(parent);
  else parents.set(parent, known);
}

/** The rules of all policies, and what takes the changes of a write in; that returns what takes them back. */
function rulesByPolicy(stored: readonly ResourceObject[]) {
  const rules = rulesIn(stored);
  const of = (policy: string): PolicyRules => rules.get(policy) ?? NO_RULES;
  /** A policy without rules has no entry, because it may be gone. */
  const set = (policy: string, list: PolicyRules): void => {
    if (list.length === 0) rules.delete(policy);
    else rules.set(policy, list);
  };
  const take = (touched: readonly Touched[]): (() => void) => {
    const changes = new Map<string, Map<string, Body | null>>();
    // Of a policy that is gone, no rule is left: looking for each of many would take long.
    const gone = touched.filter(({ object, isGone }) => isGone && object.kind === POLICY_KIND);
    const without = new Set(gone.map(({ object }) => object.id));
    for (const { object, isGone } of touched) {
      const { id, kind, parent, body } = object;
      if (kind !== RULE_KIND || without.has(parent!)) continue;
      const ofPolicy = changes.get(parent!) ?? new Map<string, Body | null>();
      changes.set(parent!, ofPolicy.set(id, isGone ? null : body));
    }
    const before = [...changes.keys(), ...without].map((policy) => [policy, of(policy)] as const);
    for (const [policy, changed] of changes) set(policy, withRules(of(policy), changed));
    for (const policy of without) set(policy, NO_RULES);
    return () => {
      for (const [policy, rulesBefore] of before) set(policy, rulesBefore);
    };
  };
  return { of, take };
}

/** The rules of all policies; the objects are in ascending order of ids. */
function rulesIn(stored: readonly ResourceObject[]): Map<string, PolicyRules> {
  const bodies = Map.groupBy(
    stored.filter(({ kind }) => kind === RULE_KIND),
    ({ parent }) => parent!,
  );
  const ofPolicies = Array.from(bodies, ([policy, found]): [string, PolicyRules] => [
    policy,
    policyRules(found.map(({ id, body }) => [id, body])),
  ]);
  return new Map(ofPolicies);
}
