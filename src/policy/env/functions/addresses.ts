import { type Address, parseSocketAddress } from '../../../net/address.ts';
import { type Cidr, contains, isCidrProblem, parseCidr } from '../../../net/cidr.ts';
import { prefixSet } from '../../../net/prefix_set.ts';
import {
  type Call,
  type FunctionRow,
  type Problem,
  type Specialised,
  func,
  overload,
} from '../../../cel/function_table.ts';
import { BOOL, STRING, list } from '../../../cel/types.ts';
import type { Value } from '../../../cel/values.ts';
import { IP, type IpValue } from '../addresses.ts';

/** An address from an address value or a string. */
type ToAddress = (value: Value) => Address | null;

const ofObject: ToAddress = (value) => (value as IpValue).address;
const ofText: ToAddress = (value) => parseSocketAddress(value as string);

/** A range with bits set beyond its mask stands for the range that contains it; other errors give no range. */
function lenientCidr(text: string): Cidr | undefined {
  const cidr = parseCidr(text);
  if (!isCidrProblem(cidr)) return cidr;
  if (cidr.problem !== 'host_bits') return undefined;
  const held = parseCidr(cidr.suggestion);
  return isCidrProblem(held) ? undefined : held;
}

function inRange(address: Address | null, range: string): boolean {
  const cidr = address === null ? undefined : lenientCidr(range);
  return cidr !== undefined && contains(cidr, address!);
}

/** A constant range that can never match is an error; one with host bits works, but is misleading. */
function problemOf(text: string, at: Pick<Problem, 'element'>): Problem | undefined {
  const cidr = parseCidr(text);
  if (!isCidrProblem(cidr)) return undefined;
  const { problem, message, suggestion } = cidr;
  const severity = problem === 'host_bits' ? 'warning' : 'error';
  const replacement = at.element === undefined ? { replacement: `'${suggestion}'` } : {};
  const hint = `did you mean '${suggestion}'?`;
  return { code: 'expr.invalid_cidr', severity, message, hint, argument: 1, ...at, ...replacement };
}

type Prepared = Specialised<unknown> | undefined;

/** The test for known ranges, and a problem with them, if any. */
function prepared(cidrs: readonly Cidr[], toAddress: ToAddress, problem: Problem | undefined): Prepared {
  const set = prefixSet(cidrs);
  const call: Call = (value) => {
    const address = toAddress(value);
    return address !== null && set.find(address) >= 0;
  };
  return problem === undefined ? { call } : { call, problem };
}

function specialiseRange(toAddress: ToAddress, [ip, range]: readonly (Value | undefined)[]): Prepared {
  if (typeof range !== 'string') return undefined;
  const problem = problemOf(range, {});
  const cidr = lenientCidr(range);
  if (ip !== undefined || cidr === undefined) return problem && { problem };
  return prepared([cidr], toAddress, problem);
}

function specialiseRanges(toAddress: ToAddress, [ip, given]: readonly (Value | undefined)[]): Prepared {
  if (!Array.isArray(given)) return undefined;
  const texts = (given as readonly Value[]).filter((range) => typeof range === 'string');
  const problems = texts.map((text, element) => problemOf(text, { element }));
  // One problem is reported: a useless range takes precedence over an oddly written one.
  const problem =
    problems.find((one) => one?.severity === 'error') ?? problems.find((one) => one !== undefined);
  if (ip !== undefined || problem?.severity === 'error') return problem && { problem };
  const cidrs = texts.map((text) => lenientCidr(text)!);
  return prepared(cidrs, toAddress, problem);
}

const RANGE = { style: 'global', result: BOOL } as const;
const ranges = list(STRING);

function inSome(address: Address | null, texts: readonly string[]): boolean {
  // Elements of a list of unknown type may be of any type.
  return texts.some((text: unknown) => typeof text === 'string' && inRange(address, text));
}

/** RFC 1918 §3. */
const PRIVATE = prefixSet(
  ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16'].map((text) => lenientCidr(text)!),
);

export const ADDRESS_FUNCTIONS: readonly FunctionRow[] = [
  func(
    'inCidrRange',
    'Whether an address is in a range; false if either is invalid.',
    "inCidrRange('10.1.2.3', '10.0.0.0/8')",
    [
      overload({
        ...RANGE,
        id: 'in_cidr_range_address',
        params: [IP, STRING],
        call: (ip, range) => inRange(ip.address, range),
        specialise: (constants) => specialiseRange(ofObject, constants),
      }),
      overload({
        ...RANGE,
        id: 'in_cidr_range_string',
        params: [STRING, STRING],
        call: (ip, range) => inRange(parseSocketAddress(ip), range),
        specialise: (constants) => specialiseRange(ofText, constants),
      }),
    ],
  ),
  func(
    'inCidrRanges',
    'Whether an address is in one of several ranges; invalid ranges are skipped.',
    "inCidrRanges('10.1.2.3', ['192.0.2.0/24', '10.0.0.0/8'])",
    [
      overload({
        ...RANGE,
        id: 'in_cidr_ranges_address',
        params: [IP, ranges],
        call: (ip, texts) => inSome(ip.address, texts),
        cost: (_ip, texts) => texts.length * 4,
        specialise: (constants) => specialiseRanges(ofObject, constants),
      }),
      overload({
        ...RANGE,
        id: 'in_cidr_ranges_string',
        params: [STRING, ranges],
        call: (ip, texts) => inSome(parseSocketAddress(ip), texts),
        cost: (_ip, texts) => texts.length * 4,
        specialise: (constants) => specialiseRanges(ofText, constants),
      }),
    ],
  ),
  func(
    'isPrivateIp',
    'Whether the string is an address of a private IPv4 network (RFC 1918).',
    "'192.168.1.1'.isPrivateIp() && !'8.8.8.8'.isPrivateIp()",
    [
      overload({
        id: 'is_private_ip_address',
        style: 'method',
        params: [IP],
        result: BOOL,
        call: (ip) => ip.address !== null && PRIVATE.find(ip.address) >= 0,
      }),
      overload({
        id: 'is_private_ip_string',
        style: 'method',
        params: [STRING],
        result: BOOL,
        call: (text) => {
          const address = parseSocketAddress(text);
          return address !== null && PRIVATE.find(address) >= 0;
        },
      }),
    ],
  ),
];
