import { describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { beginExchange } from '../../src/edge/begin_exchange.ts';
import type { Verdict } from '../../src/engine/contract.ts';
import { parseAddress } from '../../src/net/address.ts';
import { checkScenario } from '../../src/simulator/document/check.ts';
import type { CompiledFilter } from '../../src/engine/pipeline.ts';
import { MODULES } from '../../src/filters/modules.ts';
import { IS_FULL } from '../random.ts';
import { FILES, runChecked, runEvery, textOf } from './every_module.ts';
import { failed } from './scenario.ts';
import { breaking } from './breaking.ts';

type Begin = typeof beginExchange;
const TEXTS = FILES.map((name) => textOf(name));
const CHECKED = TEXTS.map((text) => checkScenario({ name: 'x.yaml', text }));

/** The name of the first case that fails on an edge. */
function caughtBy(begin?: Begin): string[] {
  for (const checked of CHECKED) {
    const names = failed(runChecked(checked, { bail: true, ...(begin !== undefined && { begin }) }));
    if (names.length > 0) return names;
  }
  return [];
}

/** Every verdict of the request phase is changed, also those after a question. */
const changed =
  (change: (verdict: Verdict) => Verdict) =>
  (slot: CompiledFilter): Partial<CompiledFilter> => {
    const through = (verdict: ReturnType<NonNullable<CompiledFilter['onRequest']>>): typeof verdict =>
      verdict.verdict === 'ask'
        ? { ...verdict, resume: (answer) => through(verdict.resume(answer)) }
        : change(verdict);
    return slot.onRequest === null
      ? {}
      : {
          onRequest: (...args: Parameters<NonNullable<CompiledFilter['onRequest']>>) =>
            through(slot.onRequest!(...args)),
        };
  };

const REFUSED = { status: 403, headers: [], body: '' } as const;
const stops = changed((verdict) => ({ verdict: 'stop', reason: verdict.reason, response: REFUSED }));
const passes = changed((verdict) => ({ verdict: 'pass', reason: verdict.reason }));
const loses = changed((verdict) => (verdict.verdict === 'pass' ? { ...verdict, edits: [] } : verdict));
const misnames = changed((verdict) => ({
  ...verdict,
  reason: { ...verdict.reason, code: 'route.no_match' },
}));
const responds = (slot: CompiledFilter): Partial<CompiledFilter> =>
  slot.onResponse === null ? {} : { onResponse: null };

/** Modules with a request phase that can stop, that edit, and that have a response phase. */
const REFUSING = ['tls_termination', 'mutual_tls', 'ip_restriction', 'user_agent_filter'].concat(
  ['webhook_verification', 'oauth', 'oidc', 'saml', 'traffic_policy', 'circuit_breaker'],
  ['websocket_tcp_converter'],
);
const EDITING = ['mutual_tls', 'oauth', 'oidc', 'saml', 'request_headers', 'backend'];
const ANSWERING = ['response_headers', 'compression', 'traffic_policy'];

const FAULTS = [
  ...MODULES.filter(({ type }) => type !== 'response_headers' && type !== 'compression').map(({ type }) => ({
    message: `${type} stops everything`,
    begin: breaking(type, stops),
  })),
  ...REFUSING.map((type) => ({ message: `${type} lets everything pass`, begin: breaking(type, passes) })),
  ...EDITING.map((type) => ({ message: `the edits of ${type} are lost`, begin: breaking(type, loses) })),
  ...ANSWERING.map((type) => ({
    message: `${type} leaves responses alone`,
    begin: breaking(type, responds),
  })),
  ...REFUSING.map((type) => ({ message: `${type} gives a wrong reason`, begin: breaking(type, misnames) })),
  {
    message: 'the breaker remembers nothing',
    begin: breaking('circuit_breaker', () => ({ reduce: null })),
  },
  ...['circuit_breaker', 'traffic_policy', 'oauth', 'webhook_verification'].map((type) => ({
    message: `the clock leaks into ${type}`,
    begin: breaking(type, (slot) => ({
      onRequest: (request, connection, state, world) =>
        slot.onRequest!(request, connection, state, {
          ...world,
          nowMs: () => performance.timeOrigin + performance.now() - 9e8,
        }),
    })),
  })),
  {
    message: 'chance is not that of the seed',
    begin: breaking('backend', (slot) => ({
      onRequest: (request, connection, state, world) =>
        slot.onRequest!(request, connection, state, { ...world, random: () => world.random() ** 2 }),
    })),
  },
  {
    message: 'the address of the client is forgotten',
    begin: ((edge, connection, head, world) =>
      beginExchange(
        edge,
        { ...connection, client: parseAddress('192.0.2.1')! },
        head,
        world,
      )) satisfies Begin,
  },
  {
    message: 'paths are shortened',
    begin: ((edge, connection, head, world) =>
      beginExchange(edge, connection, { ...head, path: head.path.slice(0, 4) }, world)) satisfies Begin,
  },
];

describe('the scenarios of every module', () => {
  it('pass without a fault', () => expect(caughtBy()).toEqual([]));

  it('cover many faults', () => expect(FAULTS.length).toBeGreaterThanOrEqual(45));

  it.each(FAULTS)('detect it when $message', ({ begin }) => {
    expect(caughtBy(begin)).not.toEqual([]);
  });
});

// --- expectations ------------------------------------------------------------------------------------------------

interface Case {
  readonly name: string;
  expect?: Record<string, unknown>;
  timeline?: { expect?: Record<string, unknown> }[];
  sample?: { share: Record<string, unknown> };
}

/** Another value of the same kind, which is not the result. */
function otherwise(key: string, value: unknown): unknown {
  if (key === 'counts') return { ...(value as object), 299: 1 };
  if (key === 'because')
    return typeof value === 'string' ? OTHER_CODE : { ...(value as object), phase: 'end' };
  if (key === 'upstream') return value === 'none' ? { attempts: 1 } : 'none';
  if (key === 'connection') return value === 'allowed' ? 'denied' : 'allowed';
  if (key === 'backend') return value === 'none' ? 'app' : 'none';
  if (Array.isArray(value)) return [599];
  if (typeof value === 'object' && value !== null) return mutatedMap(value as Record<string, unknown>);
  return typeof value === 'number'
    ? value + 1
    : value === 'allow'
      ? 'block'
      : value === 'block'
        ? 'allow'
        : `${String(value)}x`;
}

const OTHER_CODE = 'request.expectation';

/** The last entry of a map changed: a subset that no longer matches. */
function mutatedMap(map: Record<string, unknown>): Record<string, unknown> {
  const [key, value] = Object.entries(map).at(-1)!;
  const negated = { absent: value === 'absent' ? false : value !== true };
  const isMatcher = typeof value === 'object' && value !== null && 'absent' in value;
  if (value === 'absent') return { ...map, [key]: negated };
  if (key === 'absent') return { ...map, absent: value !== true };
  if (isMatcher) return { ...map, [key]: { absent: !(value as { absent: boolean }).absent } };
  return { ...map, [key]: otherwise(key, value) };
}

interface Mutant {
  readonly message: string;
  readonly text: string;
  /** JSON pointer of the changed case. */
  readonly pointer: string;
}

/** Every expectation of a file, each changed alone. */
function mutants(text: string): Mutant[] {
  const found: Mutant[] = [];
  const each = (
    change: (file: { cases: Case[] }) => Record<string, unknown> | undefined,
    message: string,
    pointer: string,
  ) => {
    for (const key of Object.keys(change(parse(text) as { cases: Case[] }) ?? {})) {
      const file = parse(text) as { cases: Case[] };
      const expected = change(file)!;
      // Values that rows of a table fill in are changed in the rows.
      if (typeof expected[key] === 'string' && /^\{\w+\}$/.test(expected[key])) continue;
      expected[key] = otherwise(key, expected[key]);
      found.push({ message: `${key} of ${message}`, text: stringify(file, { lineWidth: 0 }), pointer });
    }
  };
  for (const [index, { name, timeline = [], sample }] of (parse(text) as { cases: Case[] }).cases.entries()) {
    const pointer = `/cases/${index}`;
    each(({ cases }) => cases[index]!.expect, `'${name}'`, pointer);
    if (sample !== undefined) each(({ cases }) => cases[index]!.sample!.share, `'${name}'`, pointer);
    for (const at of timeline.keys())
      each(({ cases }) => cases[index]!.timeline![at]!.expect, `step ${at} of '${name}'`, pointer);
  }
  return found;
}

describe('a changed expectation', () => {
  const all = TEXTS.flatMap((text) => mutants(text));

  it('is one of many', () => expect(all.length).toBeGreaterThan(80));

  // Short runs try a third of them.
  it.each(all.filter((_, at) => IS_FULL || at % 3 === 0))(
    'makes its case fail: $message',
    ({ text, pointer }) => {
      const result = runEvery(text, {
        bail: true,
        selects: (row) => row.pointer === pointer || row.pointer.startsWith(`${pointer}/`),
      });
      const wrong = result.diagnostics.filter(({ severity }) => severity === 'error');
      // A share that is not a probability, or an unknown name, is found earlier.
      if (wrong.length > 0) expect(wrong[0]!.pointer).toMatch(/\/(?:expect|share)(?:\/|$)/);
      else expect(failed(result).length).toBeGreaterThan(0);
    },
  );
});
