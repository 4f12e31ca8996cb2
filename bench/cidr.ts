import { BlockList } from 'node:net';
import { pathToFileURL } from 'node:url';

import ipaddr from 'ipaddr.js';

import { compileIpRules } from '../src/filters/ip_restriction/algorithm.ts';
import { parseAddress, v4FromNumber } from '../src/net/address.ts';
import { type Cidr, isCidrProblem, parseCidr } from '../src/net/cidr.ts';
import { type PrefixSet, prefixSet } from '../src/net/prefix_set.ts';
import { type BenchRow, type BenchSection, compare, render, row } from './measure.ts';

const CLIENTS = 1_024;
const MASK = CLIENTS - 1;

function generator(seed: number): () => number {
  let state = seed;
  return () => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0);
}

/** Rules of /8 to /32, as in lists that have grown over years. */
function makeRules(count: number, next: () => number): Cidr[] {
  return Array.from({ length: count }, (_, index) => {
    const bits = 8 + ((index * 7) % 25);
    const text = `${v4FromNumber(next()).text}/${bits}`;
    const cidr = parseCidr(text);
    return isCidrProblem(cidr) ? (parseCidr(cidr.suggestion) as Cidr) : cidr;
  });
}

/** Processor milliseconds to build the set, the median of five. */
function buildMs(cidrs: readonly Cidr[]): number {
  const times = Array.from({ length: 5 }, () => {
    const started = process.cpuUsage();
    const built: PrefixSet = prefixSet(cidrs);
    const { user, system } = process.cpuUsage(started);
    return built.size === cidrs.length ? (user + system) / 1_000 : Number.NaN;
  });
  return times.sort((a, b) => a - b)[2]!;
}

/** Which rule contains an address: our set, the platform's list, and a loop over ipaddr.js. */
export async function run(): Promise<BenchSection> {
  const rows: BenchRow[] = [];
  const notes: string[] = ['clients at random addresses; peers answer whether, ours which rule'];
  for (const count of [10, 1_000, 100_000]) {
    const next = generator(count);
    const cidrs = makeRules(count, next);
    const texts = Array.from({ length: CLIENTS }, () => v4FromNumber(next()).text);
    const addresses = texts.map((text) => parseAddress(text)!);
    const set = prefixSet(cidrs);
    const list = new BlockList();
    for (const { address, bits } of cidrs) list.addSubnet(address.text, bits, 'ipv4');
    const ranges = cidrs.map(({ text }) => ipaddr.IPv4.parseCIDR(text));
    const parsed = texts.map((text) => ipaddr.IPv4.parse(text));
    for (const [index, address] of addresses.entries()) {
      if (set.find(address) >= 0 !== list.check(texts[index]!))
        throw new Error(`answers differ on ${texts[index]}`);
    }
    rows.push(
      row(
        `${count.toLocaleString('en')} rules, address parsed`,
        compare({
          ours: (turn) => set.find(addresses[turn & MASK]!),
          'ipaddr.js': (turn) => ranges.some((range) => parsed[turn & MASK]!.match(range)),
        }),
      ),
      row(
        `${count.toLocaleString('en')} rules, address as text`,
        compare({
          ours: (turn) => set.find(parseAddress(texts[turn & MASK]!)!),
          BlockList: (turn) => list.check(texts[turn & MASK]!),
        }),
      ),
    );
    notes.push(`building a set of ${count.toLocaleString('en')}: ${buildMs(cidrs).toFixed(1)} ms`);
  }
  const next = generator(7);
  const rules = compileIpRules(
    makeRules(1_000, next).map((cidr, index) => ({ action: index % 5 ? 'allow' : 'deny', cidr })),
  );
  const address = v4FromNumber(next());
  rows.push(
    row(
      'a decision by 1,000 rules',
      compare({ ours: () => rules.allow(address) !== null && rules.deny(address) === null }),
    ),
  );
  return {
    title: 'IP rules',
    rows,
    notes,
    between: 'parsing the address, and a step for each level of the tree of ranges',
  };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) console.log(render(await run()));
