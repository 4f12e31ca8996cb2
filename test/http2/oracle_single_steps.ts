import { BLOCK_ENDS, HEADS, RAW_FRAMES, TRAILERS } from './oracle_cases.ts';
import {
  type Layout,
  type Sequence,
  SETTINGS,
  type Step,
  type Target,
  WINDOW_STEPS,
} from './oracle_steps.ts';

const LAYOUT: Layout = { choices: [], sizes: [], cuts: [], padding: null, priority: null, moreFlags: 0 };
const FIRST = { among: 'used', at: 0 } as const;

function request(path: string, ends: boolean, length: number | null = null): Step {
  return { kind: 'request', method: 'POST', path, fields: [], length, ends, skips: 0, layout: LAYOUT };
}

function content(bytes: number, ends: boolean, padding: number | null = null): Step {
  return { kind: 'data', on: FIRST, bytes, ends, padding, moreFlags: 0 };
}

function windowStep(by: number, on: Target | null): Step {
  return { kind: 'window', on, by, isReserved: false, bytes: 4 };
}

function trailersStep(name: string, ends: boolean): Step {
  return { kind: 'trailers', on: FIRST, name, ends, layout: LAYOUT };
}

const GET = request('/ok', true);
const UPLOAD = request('/ok', false);
const NEVER = request('/never', true);

/** Sequences with one request that is valid. */
export const PLAIN: Sequence = { first: [], steps: [GET] };

const SMALL_WINDOWS: Step = { kind: 'settings', values: [[4, 100]] };
const LARGE_WINDOWS: Step = { kind: 'settings', values: [[4, 65_535]] };

/** Streams, to which the next frames are sent, in states that matter to them. */
const BEFORE = {
  done: [GET],
  open: [UPLOAD],
  never: [NEVER],
  stalled: [SMALL_WINDOWS, request('/b20000', true)],
} as const;

/** Each case of the tables once, followed by a request that is valid. */
export function singleSteps(): [name: string, sequence: Sequence][] {
  const cases = [
    ...ofHeads(),
    ...ofConnections(),
    ...Object.keys(BEFORE).flatMap((state) => ofStreams(state)),
    ...MORE,
  ];
  return cases.map(([name, ...steps]) => [name, { first: [], steps: [...steps, GET] }]);
}

type Case = readonly [name: string, ...steps: Step[]];

function ofHeads(): Case[] {
  const names = Object.keys(BLOCK_ENDS);
  return [
    ...Object.keys(HEADS).map((name): Case => [name, { kind: 'head', name, layout: LAYOUT }]),
    ...names.map((name): Case => [`${name}, after a head`, { kind: 'block', name, isFirst: false }]),
    ...names.map((name): Case => [`${name}, before a head`, { kind: 'block', name, isFirst: true }]),
  ];
}

function ofConnections(): Case[] {
  return [
    ...WINDOW_STEPS.map((by): Case => [`the window by ${by}`, windowStep(by, null)]),
    ...SETTINGS.flatMap(([id, values]) =>
      values.map((value): Case => [
        `setting ${id} of ${value}`,
        UPLOAD,
        { kind: 'settings', values: [[id, value]] },
        content(5, true),
      ]),
    ),
  ];
}

function ofStreams(state: string): Case[] {
  const made = (name: string, ...last: Step[]): Case => [
    `${name}, after a stream is ${state}`,
    ...BEFORE[state as keyof typeof BEFORE],
    ...last,
  ];
  const raw = state === 'done' || state === 'open' ? Object.keys(RAW_FRAMES) : [];
  const trailers = state === 'open' ? Object.keys(TRAILERS) : ['a field'];
  return [
    ...raw.map((name) => made(name, { kind: 'raw', name })),
    ...trailers.map((name) => made(`trailers, ${name}`, trailersStep(name, true))),
    made('trailers without END_STREAM', trailersStep('a field', false)),
    ...WINDOW_STEPS.map((by) => made(`its window by ${by}`, windowStep(by, FIRST))),
    made('DATA', content(5, true)),
    made('RST_STREAM', { kind: 'reset', on: FIRST, code: 8, bytes: 4 }, content(5, true)),
    made('PRIORITY', { kind: 'priority', on: FIRST, isOwn: false, isExclusive: true, bytes: 5 }),
  ];
}

const MORE: readonly Case[] = [
  [
    'a setting twice',
    {
      kind: 'settings',
      values: [
        [2, 2],
        [2, 0],
      ],
    },
  ],
  [
    'a stream that depends on itself',
    { kind: 'head', name: 'the same host', layout: { ...LAYOUT, priority: { weight: 1, isOwn: true } } },
  ],
  ['a stalled response, until SETTINGS', ...BEFORE.stalled, LARGE_WINDOWS],
  ['less content than declared', request('/ok', false, 10), content(5, true)],
  ['more content than declared', request('/ok', false, 10), content(100, false)],
  ['content as declared, padded', request('/ok', false, 10), content(5, false, 7), content(5, true, 0)],
];
