import { pointerTo } from '../diagnostics/diagnostic.ts';
import type { EdgeConfig } from '../edge/document/schema.ts';
import { type Address, addressOf, v4FromNumber, v6Address } from '../net/address.ts';
import { type Cidr, firstAfter, isCidrProblem, parseCidr } from '../net/cidr.ts';
import type { ModuleFacts } from '../filters/facts.ts';
import type { AddressLists } from '../filters/fact_values.ts';
import { MODULE_FACTS } from '../filters/table.ts';
import type { CoveragePoint } from './point.ts';
import type { PlacedRoute } from './placed_routes.ts';
import { keys } from './exchange_hits.ts';
import { type UsedRule, shadowsOf, sizeOf } from './ip_shadows.ts';

/** A module, or an action of a policy, with its IP rules. */
export interface IpDecider {
  readonly pointer: string;
  readonly route: string;
  readonly rules: readonly UsedRule[];
}

/** Modules with their rules. */
export function ipModules(routes: readonly PlacedRoute[], config: EdgeConfig): IpDecider[] {
  return routes.flatMap(({ pointer: route, route: modules }) =>
    Object.entries(modules).flatMap(([type, own]): IpDecider[] => {
      const { addressLists } = MODULE_FACTS.get(type) ?? {};
      if (addressLists === undefined || !(own as { readonly enabled: boolean }).enabled) return [];
      const pointer = `${route}/${type}`;
      return [{ pointer, route, rules: rulesOfLists(pointer, addressLists(own as never), config) }];
    }),
  );
}

/** Why a module that decides by address never gives a reason. */
export function impossibleAddress(
  code: string,
  { type, addressLists }: ModuleFacts<never>,
  placed: PlacedRoute,
  config: EdgeConfig,
): string | null {
  const action = { [`${type}.denied`]: 'deny', [`${type}.allowed`]: 'allow' }[code];
  if (action === undefined || addressLists === undefined) return null;
  const deciders = ipModules([placed], config).filter(({ pointer }) => pointer.endsWith(`/${type}`));
  return deciders.some(({ rules }) => rules.some((rule) => rule.action === action))
    ? null
    : `no range has ${action}`;
}

/** The ranges of a module or an action, without templates, and its IP policies. */
export function rulesOfLists(pointer: string, lists: AddressLists, config: EdgeConfig): UsedRule[] {
  const own = (['allow', 'deny'] as const).flatMap((action) =>
    lists[action].flatMap((text, index): UsedRule[] => {
      const cidr = parseCidr(text.trim());
      if (isCidrProblem(cidr)) return [];
      return [{ action, cidr, label: `${action}[${index}]`, pointer: `${pointer}/${action}/${index}` }];
    }),
  );
  return [...own, ...lists.policies.flatMap((id) => rulesOf(id, config))];
}

function rulesOf(id: string, { ip_policies: policies }: EdgeConfig): UsedRule[] {
  return (policies[id]?.rules ?? []).flatMap((rule, index): UsedRule[] => {
    const cidr = parseCidr(rule.cidr);
    if (isCidrProblem(cidr)) return [];
    const pointer = pointerTo(`${pointerTo('/ip_policies', id)}/rules`, index);
    return [{ action: rule.action, cidr, label: `${id}#${index}`, pointer }];
  });
}

/** Points: each rule of an IP policy in use decides about an address. */
export function ipRulePoints(routes: readonly PlacedRoute[], config: EdgeConfig): CoveragePoint[] {
  const modules = ipModules(routes, config);
  const shadowsIn = new Map(modules.map((module) => [module, shadowsOf(module.rules)]));
  return usersOf(modules).map(({ rule, users }): CoveragePoint => {
    const shadows = users.map((user) => shadowsIn.get(user)!.get(rule.pointer)!);
    return {
      id: `rules ${rule.pointer}`,
      kind: 'rules',
      pointer: rule.pointer,
      span: null,
      message: `${rule.label} decides: ${rule.action} ${rule.cidr.text}`,
      routes: users.map(({ route }) => route),
      impossible: shadows.every((shadow) => shadow !== null) ? shadows[0]! : null,
      seen: { by: 'hit', keys: [keys.rule(rule.pointer)] },
    };
  });
}

interface UsedBy {
  readonly rule: UsedRule;
  readonly users: readonly IpDecider[];
}

/** Every rule once, with what uses it. */
function usersOf(modules: readonly IpDecider[]): readonly UsedBy[] {
  const byPointer = new Map<string, { readonly rule: UsedRule; readonly users: IpDecider[] }>();
  for (const module of modules)
    for (const rule of module.rules) {
      const known = byPointer.get(rule.pointer);
      if (known === undefined) byPointer.set(rule.pointer, { rule, users: [module] });
      else if (known.users.at(-1) !== module) known.users.push(module);
    }
  return [...byPointer.values()];
}

interface Boundary {
  readonly text: string;
  readonly position: keyof typeof POSITIONS;
}

const POSITIONS = {
  first: 'the first address',
  last: 'the last address',
  before: 'the address before those',
  after: 'the address after those',
} as const;

/** The boundary addresses of a range: the first and the last inside, and their neighbours outside. */
export function boundariesOf(cidr: Cidr): Boundary[] {
  const { address } = cidr;
  const first = numberOf(address);
  const after = firstAfter(cidr);
  const end = first + sizeOf(cidr);
  const at = (value: bigint, position: Boundary['position']): Boundary => ({
    text: addressAt(value, address.family),
    position,
  });
  return [
    at(first, 'first'),
    ...(end - first > 1n ? [at(end - 1n, 'last')] : []),
    ...(first > 0n ? [at(first - 1n, 'before')] : []),
    ...(after === null ? [] : [at(end, 'after')]),
  ];
}

function numberOf({ w0, w1, w2, w3, family }: Address): bigint {
  return family === 4
    ? BigInt(w3)
    : (((BigInt(w0) << 32n) | BigInt(w1)) << 64n) | (BigInt(w2) << 32n) | BigInt(w3);
}

const WORD = 0xffff_ffffn;

function addressAt(value: bigint, family: Address['family']): string {
  if (family === 4) return v4FromNumber(Number(value)).text;
  const words = {
    w0: Number((value >> 96n) & WORD),
    w1: Number((value >> 64n) & WORD),
    w2: Number((value >> 32n) & WORD),
    w3: Number(value & WORD),
  };
  const address = addressOf(words);
  return address.family === 6 ? address.text : v6Address(words).text;
}

/** Points: a module with the rule decides about the boundary addresses of each range. */
export function addressPoints(modules: readonly IpDecider[]): CoveragePoint[] {
  return usersOf(modules).flatMap(({ rule, users }) => {
    return boundariesOf(rule.cidr).map(({ text, position }): CoveragePoint => ({
      id: `addresses ${rule.pointer} ${text}`,
      kind: 'addresses',
      pointer: rule.pointer,
      span: null,
      message: `${text} comes, ${POSITIONS[position]} of ${rule.cidr.text}`,
      routes: users.map(({ route }) => route),
      impossible: null,
      seen: { by: 'hit', keys: users.map(({ pointer }) => keys.address(pointer, text)) },
    }));
  });
}
