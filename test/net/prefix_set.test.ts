import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { type Words, addressOf, parseAddress, v4FromNumber } from '../../src/net/address.ts';
import { type Cidr, contains, firstAfter, isCidrProblem, parseCidr } from '../../src/net/cidr.ts';
import { prefixMap } from '../../src/net/prefix_map.ts';
import { prefixSet } from '../../src/net/prefix_set.ts';
import { runs, seeded, sized } from '../random.ts';

function cidr(text: string): Cidr {
  const answer = parseCidr(text);
  if (isCidrProblem(answer)) throw new Error(answer.message);
  return answer;
}

/** The lowest range of `bits` that holds the address. */
function around(text: string, bits: number): Cidr {
  const answer = parseCidr(`${text}/${bits}`);
  return isCidrProblem(answer) ? cidr(answer.suggestion) : answer;
}

/** Position of the longest of the ranges that hold the address, the first of equals. */
function findNaively(cidrs: readonly Cidr[], text: string): number {
  const address = parseAddress(text)!;
  let best = -1;
  for (const [index, candidate] of cidrs.entries()) {
    if (contains(candidate, address) && candidate.bits > (cidrs[best]?.bits ?? -1)) best = index;
  }
  return best;
}

function agreesWithScan(ranges: readonly (readonly [string, number])[], texts: readonly string[]): void {
  const cidrs = ranges.map(([text, bits]) => around(text, bits));
  const set = prefixSet(cidrs);
  // Sorted structures are most likely wrong at the ends of ranges.
  const edges = cidrs.flatMap((candidate) => [candidate.address.text, ...neighbours(candidate)]);
  for (const text of [...texts, ...edges]) {
    const found = set.find(parseAddress(text)!);
    expect({ text, found }).toEqual({ text, found: findNaively(cidrs, text) });
  }
}

// Few distinct octets and groups, so that ranges nest, touch and repeat, at both ends of the space too.
const octet = fc.constantFrom(0, 1, 10, 127, 128, 254, 255);
const v4 = fc.tuple(octet, octet, octet, octet).map((octets) => octets.join('.'));
const group = fc.constantFrom('0', '1', '7fff', '8000', 'ffff');
const v6 = fc.tuple(group, group, group, group, group, group, group, group).map((groups) => groups.join(':'));
const range = fc.oneof(
  fc.tuple(v4, fc.integer({ min: 0, max: 32 })),
  fc.tuple(v6, fc.integer({ min: 0, max: 128 })),
);

describe('prefixSet', () => {
  it('finds the most specific range, as a scan over all of them does', () => {
    fc.assert(
      fc.property(
        fc.array(range, { maxLength: 40 }),
        fc.array(fc.oneof(v4, v6), { maxLength: 20 }),
        agreesWithScan,
      ),
      sized(1_500, 3),
    );
  });

  it('separates the families and keeps the first of equal ranges', () => {
    const set = prefixSet(['::/0', '10.0.0.0/8', '10.0.0.0/8', '::ffff:10.0.0.0/104'].map(cidr));
    expect(set.size).toBe(4);
    expect(set.find(parseAddress('10.1.1.1')!)).toBe(1);
    expect(set.find(parseAddress('::ffff:10.1.1.1')!)).toBe(1);
    expect(set.find(parseAddress('11.1.1.1')!)).toBe(-1);
    expect(set.find(parseAddress('::a01:101')!)).toBe(0);
    expect(prefixSet([]).find(parseAddress('::')!)).toBe(-1);
    expect(prefixSet([]).find(parseAddress('0.0.0.0')!)).toBe(-1);
  });

  it('agrees with a walk over prefix lengths on many ranges of each family', () => {
    const random = seeded(4);
    const word = (): number => Math.floor(random() * 2 ** 32);
    const cidrs: Cidr[] = [];
    const known = new Map<string, number>();
    const add = (one: Cidr): void => {
      if (!known.has(one.text)) known.set(one.text, cidrs.length);
      cidrs.push(one);
    };
    for (let count = 0; count < runs(100_000); count++)
      add(around(v4FromNumber(word()).text, 8 + (count % 25)));
    for (let count = 0; count < runs(100_000); count++) add(around(v6Text(word), 16 + (count % 113)));
    const set = prefixSet(cidrs);
    for (let count = 0; count < runs(4_000, 400); count++) {
      const near = cidrs[Math.floor(random() * cidrs.length)]!;
      const text = count % 2 === 0 ? near.address.text : v4FromNumber(word()).text;
      const width = text.includes(':') ? 128 : 32;
      let expected = -1;
      for (let bits = width; bits >= 0 && expected < 0; bits--)
        expected = known.get(around(text, bits).text) ?? -1;
      expect({ text, found: set.find(parseAddress(text)!) }).toEqual({ text, found: expected });
    }
  });
});

function v6Text(word: () => number): string {
  return addressOf({ w0: (0x20000000 + (word() >>> 4)) >>> 0, w1: word(), w2: word(), w3: word() }).text;
}

/** The last address of the range and the first after it. */
function neighbours(candidate: Cidr): string[] {
  const after = firstAfter(candidate);
  if (after === null)
    return candidate.address.family === 4 ? ['255.255.255.255'] : [`ffff${':ffff'.repeat(7)}`];
  return [before(after), after].map(
    (words) => (candidate.address.family === 4 ? v4FromNumber(words.w3) : addressOf(words)).text,
  );
}

function before({ w0, w1, w2, w3 }: Words): Words {
  const words = [w0, w1, w2, w3];
  for (let at = 3; at >= 0; at--) {
    const borrowed = words[at] === 0;
    words[at] = borrowed ? 0xffffffff : words[at]! - 1;
    if (!borrowed) break;
  }
  return { w0: words[0]!, w1: words[1]!, w2: words[2]!, w3: words[3]! };
}

describe('prefixMap', () => {
  it('changed again and again finds what a scan over its items finds', () => {
    const change = fc.record({
      added: fc.array(range, { maxLength: 12 }),
      removed: fc.array(fc.nat(), { maxLength: 6 }),
    });
    fc.assert(
      fc.property(fc.array(change, { maxLength: 6 }), fc.array(fc.oneof(v4, v6)), (changes, texts) => {
        let items: { readonly cidr: Cidr }[] = [];
        let map = prefixMap(items);
        for (const { added, removed } of changes) {
          const gone = Array.from(new Set(removed.map((at) => at % (items.length || 1)))).flatMap(
            (at) => items[at] ?? [],
          );
          const come = added.map(([text, bits]) => ({ cidr: around(text, bits) }));
          const former = map;
          const found = texts.map((text) => former.find(parseAddress(text)!));
          map = map.with(gone, come);
          // The map before the change is as it was.
          expect(texts.map((text) => former.find(parseAddress(text)!))).toEqual(found);
          items = [...items.filter((item) => !gone.includes(item)), ...come];
          expect(map.size).toBe(items.length);
        }
        const cidrs = items.map(({ cidr: each }) => each);
        const edges = cidrs.flatMap((each) => [each.address.text].concat(neighbours(each)));
        for (const text of texts.concat(edges)) {
          const best = items[findNaively(cidrs, text)] ?? null;
          expect([text, map.find(parseAddress(text)!)]).toEqual([text, best]);
        }
      }),
      sized(600, 6),
    );
  });

  it.each([
    ['spread', (at: number) => `${1 + (at >> 16)}.${(at >> 8) & 255}.${at & 255}.0/24`],
    ['of one network', (at: number) => `10.1.${(at >> 8) & 255}.${at & 255}/32`],
    ['of one IPv6 network', (at: number) => `2001:db8:0:${at.toString(16)}::/64`],
  ])('rebuilds only the ranges beside a changed one: %s', (_, textOf) => {
    let reads = 0;
    const counted = (text: string) => {
      const own = cidr(text);
      return {
        get cidr() {
          reads++;
          return own;
        },
      };
    };
    const count = runs(65_536, 3_000);
    const many = Array.from({ length: count }, (_unused, at) => counted(textOf(at)));
    const wide = [counted('10.1.0.0/20'), counted('2001:db8::/33'), counted('1.0.0.0/8')];
    let map = prefixMap([...many, ...wide]);
    reads = 0;
    const changes = 50;
    for (let at = 0; at < changes; at++) map = map.with([many[at * 2]!], [counted(`200.${at}.0.0/16`)]);
    // At most 512 ranges are kept together.
    expect(reads / changes).toBeLessThan(512 * 12);
    expect(reads / changes).toBeLessThan(count);
    for (let at = 0; at < count; at += 7) {
      const isGone = at % 2 === 0 && at < changes * 2;
      const { address } = cidr(textOf(at));
      const found = map.find(address);
      expect(found?.cidr.text).toBe(
        isGone ? wide.find((each) => contains(each.cidr, address))!.cidr.text : cidr(textOf(at)).text,
      );
    }
    expect(map.find(parseAddress('200.7.1.1')!)?.cidr.text).toBe('200.7.0.0/16');
  });
});
