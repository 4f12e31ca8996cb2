import { parse } from '../cel/program.ts';
import { pointerTo } from '../diagnostics/diagnostic.ts';
import { readDocument } from '../config_file/read.ts';
import type { EdgeConfig } from '../edge/document/schema.ts';
import { withoutFiles } from '../edge/document/without_files.ts';
import { POLICY_FILE } from '../policy/document/read.ts';
import type { Shape } from '../policy/document/shape.ts';
import { expressionMutants, textMutants } from './expression_mutants.ts';
import { OF_EDGES, OF_POLICIES, itemShape, memberShape } from './member_shapes.ts';
import { type OwnConfig, type Role, ownConfig, roleAt } from './mutable_members.ts';
import { type MutationOperator, operatorOf } from './mutation_operators.ts';

/** A configuration with one mistake. */
export interface Mutant {
  readonly operator: MutationOperator;
  /** JSON pointer of the changed value; those inside a policy continue that of its text. */
  readonly pointer: string;
  /** The mistake as a sentence. */
  readonly message: string;
  /** Not checked: it may be invalid, or mean the same as the original. */
  readonly config: unknown;
}

/**
 * Configurations that differ from one in a single mistake: something is missing, swapped, negated, off by one, or
 * misspelt. Names, addresses, keys and secrets stay as they are.
 */
export function* configMutants(config: EdgeConfig): Generator<Mutant> {
  const whole = withoutFiles(config);
  const names = { backend: Object.keys(whole.backends), ip_policy: Object.keys(whole.ip_policies) };
  for (const { value, ...mutant } of changesOf(whole, { shape: OF_EDGES, pointer: '', names, own: null }))
    yield Object.assign(mutant, { config: value });
}

interface Changed {
  readonly operator: MutationOperator;
  readonly pointer: string;
  readonly message: string;
  readonly value: unknown;
}

interface At {
  /** What the schema says of the value. */
  readonly shape: Shape;
  readonly pointer: string;
  /** Names that references may have. */
  readonly names: Readonly<Record<'backend' | 'ip_policy', readonly string[]>>;
  /** The filter in whose config the value is; null outside of configs. */
  readonly own: OwnConfig | null;
}

function* changesOf(value: unknown, at: At): Generator<Changed> {
  const { shape, pointer, names, own } = at;
  const role = roleAt(own, pointer);
  if (role === 'fixed' || shape.mutants !== undefined || shape.const !== undefined) return;
  if (own !== null && isPolicy(own, pointer))
    return yield* policyChanges(value as { readonly value: string }, at);
  if (Array.isArray(value)) return yield* listChanges(value, at);
  if (typeof value === 'object' && value !== null) return yield* mapChanges(value, at);
  // One limit for all instead of one for each.
  if (role === 'limit_key') yield replaced(value, 'req.method', pointer, 'limit-key');
  else if (role !== null) yield* otherNames(value, names[role], pointer, SWAPPED[role]);
  else for (const other of scalarChanges(value)) yield replaced(value, other, pointer);
}

/** Another name of the same kind. */
const SWAPPED = { backend: 'backend-swapped', ip_policy: 'policy-swapped' } as const;

function replaced(value: unknown, other: unknown, pointer: string, operator?: MutationOperator): Changed {
  const message = `${lastOf(pointer)} is ${shown(other)} instead of ${shown(value)}`;
  return { operator: operator ?? operatorOf('value', pointer, value), pointer, message, value: other };
}

/** The mistake that a value is missing. */
function missing(value: unknown, pointer: string, role: Role | null): Omit<Changed, 'value'> {
  const operator = role === 'limit_key' ? 'limit-key' : operatorOf('missing', pointer, value);
  return { operator, pointer, message: `${lastOf(pointer)} is missing` };
}

function* listChanges(list: readonly unknown[], { shape, pointer, names, own }: At): Generator<Changed> {
  for (const [at, item] of list.entries()) {
    const place = pointerTo(pointer, at);
    const each = itemShape(shape, item);
    const changes =
      each.condition === true && typeof item === 'string'
        ? expressionChanges(item, place)
        : changesOf(item, { shape: each, pointer: place, names, own });
    for (const change of changes) yield { ...change, value: list.with(at, change.value) };
    yield { ...missing(item, place, roleAt(own, place)), value: list.toSpliced(at, 1) };
    if (at === 0) continue;
    const value = list.with(at, list[at - 1]).with(at - 1, item);
    const operator = operatorOf('order', place, item);
    const message = `${lastOf(place)} and the one before it are swapped`;
    yield { operator, pointer: place, message, value };
  }
}

function* mapChanges(map: object, { shape, pointer, names, own: around }: At): Generator<Changed> {
  for (const [name, member] of Object.entries(map)) {
    const place = pointerTo(pointer, name);
    const own = ownConfig(map, pointer, name, place) ?? around;
    const role = roleAt(own, place);
    const each = memberShape(shape, name);
    const { [name]: _, ...rest } = map as Record<string, unknown>;
    if (each.mutants !== 'none') yield { ...missing(member, place, role), value: rest };
    if (shape.kind === 'header_map' && typeof member === 'string')
      yield {
        operator: 'header-name',
        pointer: place,
        message: `${lastOf(place)} is named ${name}-x`,
        value: { ...rest, [`${name}-x`]: member },
      };
    for (const change of changesOf(member, { shape: each, pointer: place, names, own }))
      yield { ...change, value: { ...map, [name]: change.value } };
  }
}

/** More other names are not tried for one reference. */
const OTHER_NAMES = 3;

function otherNames(
  name: unknown,
  names: readonly string[],
  pointer: string,
  operator: MutationOperator,
): readonly Changed[] {
  const others = names.filter((each) => each !== name).slice(0, OTHER_NAMES);
  return others.map((other) => replaced(name, other, pointer, operator));
}

/** Whether the config at a pointer has a policy as its text. */
function isPolicy({ facts, pointer: own }: OwnConfig, pointer: string): boolean {
  return own === pointer && 'runsActions' in facts && facts.runsActions;
}

function* policyChanges(policy: { readonly value: string }, { pointer, names }: At): Generator<Changed> {
  const at = pointerTo(pointer, 'value');
  const { document } = readDocument({ name: at, text: policy.value }, POLICY_FILE);
  if (document === null) return;
  for (const change of changesOf(document.value, { shape: OF_POLICIES, pointer: at, names, own: null }))
    yield { ...change, value: { ...policy, value: JSON.stringify(change.value) } };
}

function* expressionChanges(source: string, pointer: string): Generator<Changed> {
  yield {
    operator: 'expression-negated',
    pointer,
    message: `${source} is negated`,
    value: `!(${source})`,
  };
  const parsed = parse(source);
  if ('diagnostic' in parsed) return;
  for (const { text, ...change } of expressionMutants(source, parsed.ast.root))
    yield { ...change, pointer, value: text };
}

function scalarChanges(value: unknown): readonly unknown[] {
  if (typeof value === 'boolean') return [!value];
  if (typeof value === 'number') {
    const near = Number.isInteger(value) ? [value - 1, value + 1] : [];
    const others = new Set([
      ...near,
      Number.isInteger(value) ? Math.floor(value / 2) : value / 2,
      value * 1.5,
    ]);
    others.delete(value);
    return [...others];
  }
  if (typeof value !== 'string') return [];
  const pair = PAIRS.find((each) => each.includes(value));
  if (pair !== undefined) return pair.filter((each) => each !== value);
  const range = /^(.*)\/(\d+)$/.exec(value);
  if (range !== null && /^[\d.]+$|:/.test(range[1]!))
    return [1, -1].map((by) => maskOf(range[1]!, Number(range[2]) + by));
  const amount = /^(\d+)(ms|s|m|h)$/.exec(value);
  if (amount !== null) return [-10, -1, 1, 10].map((by) => `${Number(amount[1]) + by}${amount[2]!}`);
  return textMutants(value);
}

const PAIRS = [
  ['allow', 'deny'],
  ['path_prefix', 'exact_path'],
];

/** A range with another mask; its lowest address may have bits beyond it, and is then refused. */
function maskOf(address: string, bits: number): string {
  return `${address}/${bits}`;
}

/** The last two parts of a pointer, as people name a place. */
function lastOf(pointer: string): string {
  return pointer.split('/').slice(-2).join('/');
}

function shown(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : JSON.stringify(value);
}
