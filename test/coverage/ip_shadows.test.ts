import { expect, test } from 'vitest';
import { type UsedRule, shadowsOf, sizeOf } from '../../src/coverage/ip_shadows.ts';
import { type Cidr, contains, isCidrProblem, parseCidr } from '../../src/net/cidr.ts';
import { runs, seeded } from '../random.ts';

/** Few bits, so that ranges are often equal, nested and together as large as another one. */
const BITS = [28, 29, 30, 30, 31, 31, 32] as const;

function randomRules(seed: number): UsedRule[] {
  const random = seeded(seed);
  const below = (limit: number): number => Math.floor(random() * limit);
  return Array.from({ length: 1 + below(14) }, (_, index) => {
    const isV6 = below(4) === 0;
    const bits = BITS[below(BITS.length)]!;
    const size = 2 ** (32 - bits);
    const last = Math.floor(below(16) / size) * size;
    const cidr = parseCidr(isV6 ? `2001:db8::${last.toString(16)}/${bits + 96}` : `10.0.0.${last}/${bits}`);
    if (isCidrProblem(cidr)) throw new Error(cidr.message);
    // A policy that is named twice has its rules twice.
    const pointer = `/${below(8) === 0 ? 0 : index}`;
    return { action: below(2) === 0 ? 'allow' : 'deny', cidr, label: `#${index}`, pointer };
  });
}

function holdsRange(outer: Cidr, inner: Cidr): boolean {
  return outer.bits <= inner.bits && contains(outer, inner.address);
}

/** The plain way, which compares each rule with each other one. */
function plainShadow(pointer: string, rules: readonly UsedRule[]): string | null {
  const at = rules.findIndex((each) => each.pointer === pointer);
  const rule = rules[at]!;
  const stronger = rules.filter((other, index) => {
    if (index === at) return false;
    if (other.action !== rule.action) return rule.action === 'allow';
    return other.cidr.text === rule.cidr.text ? index < at : other.cidr.bits > rule.cidr.bits;
  });
  const whole = stronger.find((other) => holdsRange(other.cidr, rule.cidr));
  if (whole !== undefined) return `${whole.label} (${whole.action} ${whole.cidr.text}) covers it entirely`;
  const inside = stronger.filter((other) => holdsRange(rule.cidr, other.cidr));
  const widest = inside.filter(
    (other, index) =>
      !inside.some(
        (wider, position) =>
          position !== index &&
          holdsRange(wider.cidr, other.cidr) &&
          (wider.cidr.text !== other.cidr.text || position < index),
      ),
  );
  const covered = widest.reduce((sum, { cidr }) => sum + sizeOf(cidr), 0n);
  if (covered < sizeOf(rule.cidr)) return null;
  return `${widest.map(({ label }) => label).join(', ')} together cover it entirely`;
}

test('why rules never decide is what comparing each with each other one says', () => {
  const kinds = { null: 0, entirely: 0, together: 0 };
  for (let seed = 0; seed < runs(20_000, 500); seed++) {
    const rules = randomRules(seed);
    const shadows = shadowsOf(rules);
    for (const { pointer } of rules) {
      const plain = plainShadow(pointer, rules);
      expect([seed, pointer, shadows.get(pointer)]).toEqual([seed, pointer, plain]);
      kinds[plain === null ? 'null' : plain.includes('together') ? 'together' : 'entirely']++;
    }
  }
  for (const count of Object.values(kinds)) expect(count).toBeGreaterThan(50);
});

test('a rule is compared with those that hold it or that it holds, not with all', () => {
  let reads = 0;
  const rules = Array.from({ length: 10_000 }, (_, index) => {
    const cidr = parseCidr(`10.${index >> 8}.${index & 255}.0/24`) as Cidr;
    return {
      action: 'allow' as const,
      label: '',
      pointer: `/${index}`,
      get cidr() {
        reads++;
        return cidr;
      },
    };
  });
  expect(new Set(shadowsOf(rules).values())).toEqual(new Set([null]));
  expect(reads).toBeLessThan(100 * rules.length);
});
