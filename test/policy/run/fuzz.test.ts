import { expect, test } from 'vitest';
import { checkPolicyValue } from '../../../src/policy/document/check.ts';
import { compilePolicy } from '../../../src/policy/compile.ts';
import { runConnect } from '../../../src/policy/phases.ts';
import { mutateValue, pick } from '../document/mutate.ts';
import { runs, seeded } from '../../random.ts';
import { caseTables } from './case.ts';
import {
  CONTEXT,
  type Given,
  NAMING,
  type Script,
  connectionOf,
  play,
  routeOf,
  steadyWorld,
} from './stage.ts';

const MUTANTS = runs(15_000);

const policies: readonly object[] = caseTables().flatMap(([, cases]) => cases.map(({ policy }) => policy));

const WORDS = [
  '',
  'a',
  '/a',
  'x=1',
  '(',
  '${x}',
  '%zz',
  'é',
  '\u0000',
  'Basic YTpi',
  'application/json',
  '{"a":1}',
  'a.b.c',
];

function randomRequest(random: () => number): Given {
  return {
    method: pick(random, ['GET', 'POST', 'PUT']),
    path: pick(random, ['/', '/a', '/v1/users', '/admin', '/x%2Fy']),
    query: pick(random, WORDS),
    headers: Array.from({ length: 6 }, (_each, at) =>
      at % 2 === 0
        ? pick(random, [
            'x',
            'x-a',
            'authorization',
            'content-type',
            'accept-encoding',
            'content-encoding',
            'cookie',
          ])
        : pick(random, WORDS),
    ),
    client: pick(random, ['203.0.113.7', '10.0.0.1', '2001:db8::1']),
    body: pick(random, WORDS),
  };
}

function randomScript(random: () => number): Script {
  const failure = pick(random, ['connect', 'timeout', undefined, undefined] as const);
  return {
    upstream: {
      status: pick(random, [200, 204, 404, 500]),
      headers: ['content-type', pick(random, ['text/event-stream', 'text/plain', ''])],
      body: pick(random, ['', 'data: 1234\n\n', 'user=ann']),
      ...(failure === undefined ? {} : { failure }),
    },
    fetch: () => {
      const failed = pick(random, ['connect', 'timeout', 'too_large', undefined, undefined] as const);
      if (failed !== undefined) return { failure: failed, detail: 'as it is' };
      const body = Buffer.from(pick(random, WORDS));
      return {
        status: pick(random, [200, 404]),
        headers: ['a', 'b'],
        body,
        resolvedIp: '1.1.1.1',
        timeMs: 1.5,
      };
    },
  };
}

/** Why a policy without findings does not run correctly; null if it does. */
function complaint(value: unknown, random: () => number): string | null {
  const { document } = checkPolicyValue(value, { branding: NAMING });
  if (document === null) return null;
  const chance = [random(), random()];
  const connection = connectionOf(randomRequest(random));
  const compiled = compilePolicy(document, { ...CONTEXT, passUnsimulated: true });
  runConnect(compiled, connection, compiled.initial?.(() => 'policy') ?? null, steadyWorld(chance));
  // Routes do not have this phase.
  if ('on_tcp_connect' in (value as object)) return null;
  const trace = pick(random, ['decided', 'full'] as const);
  const route = routeOf(written(value), { passUnsimulated: true, trace }, chance);
  for (let time = 0; time < 3; time++) {
    const { exchange } = play(route, randomRequest(random), randomScript(random));
    if (exchange.ended?.code === 'engine.bug') return String(exchange.ended.detail['message']);
    const reason = exchange.verdicts[0]?.reason;
    if (reason?.code === 'traffic_policy.failed' && reason.detail['error'] === undefined)
      return 'a second check failed';
  }
  return null;
}

function written(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) => (typeof part === 'bigint' ? String(part) : part));
}

test('a valid policy compiles, and runs on any request', () => {
  const random = seeded(2254);
  const complaints: string[] = [];
  let sound = 0;
  for (let count = 0; count < MUTANTS; count++) {
    const value = mutateValue(random, pick(random, policies), policies);
    let found: string | null;
    try {
      found = complaint(value, random);
    } catch (error) {
      found = error instanceof Error ? (error.stack ?? error.message) : String(error);
    }
    if (found !== null) complaints.push(`${found}\n${written(value)}`);
    if (checkPolicyValue(value, { branding: NAMING }).document !== null) sound++;
  }
  expect(complaints).toEqual([]);
  // Most mutants are refused; this tests the others.
  expect(sound).toBeGreaterThan(MUTANTS / 20);
});
