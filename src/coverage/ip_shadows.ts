import { compareWords } from '../net/address.ts';
import { type Cidr, contains } from '../net/cidr.ts';

/** An IP rule that something uses. */
export interface UsedRule {
  readonly action: 'allow' | 'deny';
  readonly cidr: Cidr;
  readonly label: string;
  readonly pointer: string;
}

/** A rule with its place in the list. */
interface Listed {
  readonly rule: UsedRule;
  readonly index: number;
}

/**
 * Why each rule of a list never decides, by its pointer; null if it decides for some address. Two ranges are apart, or one
 * holds the other: sorted, each is followed by all that it holds, and a stack has those that hold it.
 */
export function shadowsOf(rules: readonly UsedRule[]): ReadonlyMap<string, string | null> {
  const sorted = rules.map((rule, index): Listed => ({ rule, index })).sort(byRange);
  const first = new Map<string, number>();
  for (const [index, { pointer }] of rules.entries()) if (!first.has(pointer)) first.set(pointer, index);
  const shadows = new Map<string, string | null>();
  const outer: Listed[] = [];
  for (const [at, listed] of sorted.entries()) {
    const { cidr, pointer } = listed.rule;
    while (outer.length > 0 && !holdsRange(outer.at(-1)!.rule.cidr, cidr)) outer.pop();
    if (first.get(pointer) === listed.index)
      shadows.set(pointer, shadowOf(listed, outer, heldFrom(at, sorted)));
    outer.push(listed);
  }
  return shadows;
}

/** By address, the wider range first, and equal ranges as they are listed. */
function byRange(one: Listed, other: Listed): number {
  const [here, there] = [one.rule.cidr, other.rule.cidr];
  return (
    here.address.family - there.address.family ||
    compareWords(here.address, there.address) ||
    here.bits - there.bits ||
    one.index - other.index
  );
}

/** The ranges behind a place that the one there holds, or is equal to. */
function heldFrom(at: number, sorted: readonly Listed[]): readonly Listed[] {
  const { cidr } = sorted[at]!.rule;
  let end = at + 1;
  while (end < sorted.length && holdsRange(cidr, sorted[end]!.rule.cidr)) end++;
  return sorted.slice(at + 1, end);
}

/** Why a rule never decides, by the ranges that hold its own, and those that it holds; equal ones may be in either. */
function shadowOf(listed: Listed, outer: readonly Listed[], held: readonly Listed[]): string | null {
  const { rule } = listed;
  const { cidr } = rule;
  const equal = held.filter((other) => other.rule.cidr.bits === cidr.bits);
  const whole = [...outer, ...equal]
    .filter((other) => isStronger(other, listed))
    .sort(byIndex)
    .at(0)?.rule;
  if (whole !== undefined) return `${whole.label} (${whole.action} ${whole.cidr.text}) covers it entirely`;
  const widest: Listed[] = [];
  for (const other of held) {
    const last = widest.at(-1);
    if (!isStronger(other, listed) || (last !== undefined && holdsRange(last.rule.cidr, other.rule.cidr)))
      continue;
    widest.push(other);
  }
  const covered = widest.reduce((sum, other) => sum + sizeOf(other.rule.cidr), 0n);
  if (covered < sizeOf(cidr)) return null;
  const labels = widest.sort(byIndex).map((other) => other.rule.label);
  return `${labels.join(', ')} together cover it entirely`;
}

function byIndex(one: Listed, other: Listed): number {
  return one.index - other.index;
}

/** Whether a rule decides where both apply. */
function isStronger({ rule: other, index }: Listed, { rule, index: own }: Listed): boolean {
  if (other.action !== rule.action) return rule.action === 'allow';
  const isSame = other.cidr.text === rule.cidr.text;
  // Of equal ranges the first applies, of nested ones the narrower.
  return isSame ? index < own : other.cidr.bits > rule.cidr.bits;
}

function holdsRange(outer: Cidr, inner: Cidr): boolean {
  return outer.bits <= inner.bits && contains(outer, inner.address);
}

/** How many addresses a range has. */
export function sizeOf({ address, bits }: Cidr): bigint {
  return 1n << BigInt((address.family === 4 ? 32 : 128) - bits);
}
