import fc from 'fast-check';
import { BLOCK_ENDS, HEADS, RAW_FRAMES, TRAILERS } from './oracle_cases.ts';
import { type Fields, MOST_CHOICES } from './oracle_hpack.ts';

/** Steps of a client as plain data, which shrinks: ids and states are those of the moment at which a step is sent. */

/** How a header block is written and framed. */
export interface Layout {
  readonly choices: readonly number[];
  readonly sizes: readonly number[];
  /** Where CONTINUATION frames begin, in thousandths of the block. */
  readonly cuts: readonly number[];
  readonly padding: number | null;
  /** Weight, and whether the stream depends on itself. */
  readonly priority: { readonly weight: number; readonly isOwn: boolean } | null;
  readonly moreFlags: number;
}

/** A stream: one of those that are open, one of all, or one that is idle. */
export interface Target {
  readonly among: 'open' | 'used' | 'idle';
  readonly at: number;
}

export type Step =
  | {
      readonly kind: 'request';
      readonly method: string;
      readonly path: string;
      readonly fields: Fields;
      /** What the head declares of the content that follows; `ends` if no content follows. */
      readonly length: number | null;
      readonly ends: boolean;
      /** Ids that are left out before it. */
      readonly skips: number;
      readonly layout: Layout;
    }
  | {
      readonly kind: 'data';
      readonly on: Target;
      readonly bytes: number;
      readonly ends: boolean;
      readonly padding: number | null;
      readonly moreFlags: number;
    }
  | {
      readonly kind: 'trailers';
      readonly on: Target;
      readonly name: string;
      readonly ends: boolean;
      readonly layout: Layout;
    }
  | { readonly kind: 'reset'; readonly on: Target; readonly code: number; readonly bytes: number }
  | {
      readonly kind: 'window';
      readonly on: Target | null;
      readonly by: number;
      readonly isReserved: boolean;
      readonly bytes: number;
    }
  | { readonly kind: 'settings'; readonly values: readonly (readonly [number, number])[] }
  | { readonly kind: 'ping'; readonly flags: number }
  | {
      readonly kind: 'priority';
      readonly on: Target;
      readonly isOwn: boolean;
      readonly isExclusive: boolean;
      readonly bytes: number;
    }
  | {
      readonly kind: 'unknown';
      readonly type: number;
      readonly on: Target | null;
      readonly flags: number;
      readonly payload: string;
    }
  | { readonly kind: 'goaway'; readonly last: number; readonly code: number; readonly bytes: number }
  | { readonly kind: 'head'; readonly name: string; readonly layout: Layout }
  | { readonly kind: 'block'; readonly name: string; readonly isFirst: boolean }
  | { readonly kind: 'raw'; readonly name: string };

/** Mostly the value that is also the smallest; otherwise another one. */
function mostly<T>(usual: T, other: fc.Arbitrary<T>, weight = 5): fc.Arbitrary<T> {
  return fc.oneof({ weight, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: other });
}

const PADDING = mostly<number | null>(null, fc.nat(20));

const LAYOUT: fc.Arbitrary<Layout> = fc.record({
  choices: fc.array(fc.nat(MOST_CHOICES), { maxLength: 8 }),
  sizes: mostly<number[]>([], fc.array(fc.constantFrom(0, 50, 200, 1_000, 4_096), { maxLength: 2 })),
  cuts: mostly<number[]>([], fc.array(fc.nat(1_000), { maxLength: 4 })),
  padding: PADDING,
  priority: mostly<Layout['priority']>(
    null,
    fc.record({ weight: fc.nat(255), isOwn: mostly(false, fc.constant(true)) }),
  ),
  moreFlags: mostly(0, fc.constantFrom(2, 0x10, 0x40, 0x80)),
});

const TARGET: fc.Arbitrary<Target> = fc.record({
  among: fc.oneof(
    { weight: 8, arbitrary: fc.constant('open' as const) },
    { weight: 3, arbitrary: fc.constant('used' as const) },
    { weight: 1, arbitrary: fc.constant('idle' as const) },
  ),
  at: fc.nat(9),
});
const USED: fc.Arbitrary<Target> = TARGET.map(({ among, at }) => ({
  among: among === 'open' ? 'used' : among,
  at,
}));

const FIELD = fc.tuple(
  fc.constantFrom('x-ta', 'x-tb', 'x-tcc'),
  fc.oneof(
    fc.constantFrom('', '1', 'abc', '\xe9\xff'),
    fc.stringMatching(/^[!-~]{1,20}$/),
    fc.nat(900).map((length) => 'L'.repeat(length)),
  ),
);

const METHODS = ['GET', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'HEAD', 'PATCH'] as const;

const REQUEST = fc.record({
  kind: fc.constant('request' as const),
  method: fc.constantFrom(...METHODS),
  path: fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom('/ok', '/ok?x=1', '/b100', '/b20000') },
    { weight: 1, arbitrary: fc.constant('/never') },
  ),
  fields: fc.array(FIELD, { maxLength: 4 }),
  length: mostly<number | null>(null, fc.constantFrom(1, 5, 10, 100), 2),
  ends: fc.boolean(),
  skips: mostly(0, fc.nat(2)),
  layout: LAYOUT,
});

const DATA = fc.record({
  kind: fc.constant('data' as const),
  on: TARGET,
  bytes: fc.constantFrom(0, 1, 5, 10, 100, 16_000),
  ends: fc.boolean(),
  padding: PADDING,
  moreFlags: mostly(0, fc.constantFrom(2, 4, 0x10, 0x20, 0x80), 15),
});

const TRAILER = fc.record({
  kind: fc.constant('trailers' as const),
  on: TARGET,
  name: fc.constantFrom(...Object.keys(TRAILERS)),
  ends: mostly(true, fc.constant(false)),
  layout: LAYOUT,
});

const RESET = fc.record({
  kind: fc.constant('reset' as const),
  on: TARGET,
  code: fc.constantFrom(0, 1, 7, 8, 99),
  bytes: mostly(4, fc.constantFrom(0, 3, 5)),
});

export const WINDOW_STEPS = [1, 0, 100, 65_535, 0x7fff_ffff, 0x7fff_ffff - 65_535] as const;

const WINDOW = fc.record({
  kind: fc.constant('window' as const),
  on: mostly<Target | null>(null, TARGET, 1),
  by: fc.constantFrom(...WINDOW_STEPS),
  isReserved: mostly(false, fc.constant(true)),
  bytes: mostly(4, fc.constantFrom(0, 3, 5), 9),
});

// table: settings of RFC 9113 §6.5.2 and unknown ones, with values of both sides of their limits
export const SETTINGS: readonly (readonly [id: number, values: readonly number[]])[] = [
  [1, [4_096, 0, 1, 100, 65_535, 0xffff_ffff]],
  [2, [0, 1, 2]],
  [3, [100, 0, 1, 0xffff_ffff]],
  [4, [65_535, 0, 1, 100, 4_096, 0x7fff_ffff, 0x8000_0000]],
  [5, [16_384, 16_383, 65_536, 0xff_ffff, 0x100_0000]],
  [6, [65_536, 0, 100, 0xffff_ffff]],
  [8, [0, 1]],
  [0xff, [0, 1]],
];
const SETTING = fc
  .oneof(
    { weight: 2, arbitrary: fc.constantFrom(...SETTINGS) },
    { weight: 1, arbitrary: fc.constant(SETTINGS[3]!) },
  )
  .chain(([id, values]) => fc.constantFrom(...values).map((value) => [id, value] as const));

/** Each setting once: servers may send content between two values of one, or not. */
function settingsOf(maxLength: number): fc.Arbitrary<Sequence['first']> {
  return fc.uniqueArray(SETTING, { maxLength, selector: ([id]) => id });
}

const GIVEN_SETTINGS = fc.record({
  kind: fc.constant('settings' as const),
  values: settingsOf(3),
});

const PRIORITY = fc.record({
  kind: fc.constant('priority' as const),
  on: USED,
  isOwn: mostly(false, fc.constant(true)),
  isExclusive: fc.boolean(),
  bytes: mostly(5, fc.constantFrom(0, 4, 6)),
});

const UNKNOWN = fc.record({
  kind: fc.constant('unknown' as const),
  // Among them ALTSVC, ORIGIN and PRIORITY_UPDATE.
  type: fc.constantFrom(0xff, 0x10, 0x0a, 0x0b, 0x0c, 0x0d, 0x11),
  on: mostly<Target | null>(null, USED, 1),
  flags: fc.nat(255),
  payload: fc.constantFrom('', '00000001', '00000001753d31', '000000ff753d', '0101010101010101'),
});

const GOAWAY = fc.record({
  kind: fc.constant('goaway' as const),
  last: fc.constantFrom(0, 2, 0x7fff_ffff),
  code: fc.constantFrom(0, 1, 99),
  bytes: fc.constantFrom(8, 20),
});

const HEAD = fc.record({
  kind: fc.constant('head' as const),
  name: fc.constantFrom(...Object.keys(HEADS)),
  layout: LAYOUT,
});

const BLOCK = fc.record({
  kind: fc.constant('block' as const),
  name: fc.constantFrom(...Object.keys(BLOCK_ENDS)),
  isFirst: fc.boolean(),
});

const RAW = fc.record({
  kind: fc.constant('raw' as const),
  name: fc.constantFrom(...Object.keys(RAW_FRAMES)),
});

const PING = fc.record({ kind: fc.constant('ping' as const), flags: fc.constantFrom(0, 0xfe) });

const STEP: fc.Arbitrary<Step> = fc.oneof(
  { weight: 34, arbitrary: REQUEST },
  { weight: 20, arbitrary: DATA },
  { weight: 6, arbitrary: TRAILER },
  { weight: 5, arbitrary: RESET },
  { weight: 7, arbitrary: WINDOW },
  { weight: 8, arbitrary: GIVEN_SETTINGS },
  { weight: 1, arbitrary: PING },
  { weight: 4, arbitrary: PRIORITY },
  { weight: 4, arbitrary: UNKNOWN },
  { weight: 1, arbitrary: GOAWAY },
  { weight: 10, arbitrary: HEAD },
  { weight: 2, arbitrary: BLOCK },
  { weight: 3, arbitrary: RAW },
);

/** The settings of the first frame, and what follows. */
export interface Sequence {
  readonly first: readonly (readonly [number, number])[];
  readonly steps: readonly Step[];
}

export const SEQUENCE: fc.Arbitrary<Sequence> = fc.record({
  first: mostly<Sequence['first']>([], settingsOf(2), 3),
  steps: fc.array(STEP, { minLength: 1, maxLength: 10 }),
});
