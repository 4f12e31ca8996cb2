import { describe, expect, it } from 'vitest';
import { atOnce } from '../../src/config_file/steps.ts';
import { validationCache } from '../../src/edge/document/validation_cache.ts';
import { checkWholeEdge } from '../../src/edge/semantic_checks.ts';
import { type EdgeOfFile, edgeOf, usable } from '../../src/edgeproof.ts';
import { LARGE_POLICY } from '../../src/policy/facts.ts';
import { callsIn } from '../calls.ts';
import { pick } from '../policy/document/mutate.ts';
import { runs, seeded } from '../random.ts';

/** What is compiled ahead of a swap, with pauses, is what the swap would compile at once. */

const POLICIES = runs(60, 5);
const REQUESTS = 60;
const RULES = 400;

const HEADER = ['x-a', 'x-b', 'x-c'] as const;

type Random = () => number;

function expressionOf(random: Random): string {
  const number = Math.floor(random() * RULES);
  return pick(random, [
    `conn.client_port == ${number}`,
    `conn.client_port in [${number}, ${number + 1}, ${number}]`,
    `req.url.path.startsWith('/p${number % 20}')`,
    `req.url.path == '/p${number % 20}/x' || req.url.path == '/q'`,
    `req.method == 'POST' && conn.client_port == ${number}`,
    `'${pick(random, HEADER)}' in req.headers`,
    `rand.double() < 0.1`,
    `size(req.url.path) == ${number % 9}`,
  ]);
}

function actionOf(random: Random): object {
  const name = pick(random, HEADER);
  return pick(random, [
    { type: 'add-headers', config: { headers: { [name]: '${req.method}' } } },
    { type: 'remove-headers', config: { headers: [name] } },
    { type: 'set-vars', config: { vars: [{ seen: '${conn.client_port}' }] } },
    { type: 'log', config: { metadata: { path: '${req.url.path}' } } },
    { type: 'restrict-ips', config: { ip_policies: ['office'] } },
    { type: 'rate-limit', config: RATE },
  ]);
}

function endOf(random: Random): object {
  return pick(random, [
    { type: 'deny', config: { status_code: 403 + Math.floor(random() * 20) } },
    { type: 'custom-response', config: { status_code: 418, body: 'port ${conn.client_port}' } },
  ]);
}

const RATE = {
  name: 'few',
  algorithm: 'sliding_window',
  capacity: 3,
  rate: '60s',
  bucket_key: ['conn.client_ip'],
};

function policyOf(random: Random): string {
  const rule = () => ({
    ...(random() < 0.2 && { name: 'named' }),
    expressions: Array.from({ length: Math.floor(random() * 3) + 1 }, () => expressionOf(random)),
    actions: [
      ...Array.from({ length: Math.floor(random() * 3) }, () => actionOf(random)),
      random() < 0.3 ? endOf(random) : actionOf(random),
    ],
  });
  return JSON.stringify({
    on_http_request: Array.from({ length: RULES }, rule),
    on_http_response: [{ actions: [{ type: 'add-headers', config: { headers: { 'x-last': 'yes' } } }] }],
  });
}

function documentOf(value: string | null, office: string) {
  const route = (match: string) => ({
    match_type: 'path_prefix',
    match,
    backend: { backend_id: 'app' },
    ...(value !== null && match === '/' && { traffic_policy: { value } }),
  });
  return {
    ip_policies: { office: { rules: [{ cidr: office, action: 'allow' }] } },
    backends: { app: { http_response: { status_code: 200 } } },
    edges: { https: { shop: { hostports: ['shop.test:443'], routes: [route('/'), route('/other')] } } },
  };
}

/** As the management API checks a change. */
function checked(document: object, cache = validationCache()) {
  return usable(checkWholeEdge({ value: document }, { cache, places: false }));
}

function running(seed: number): EdgeOfFile {
  return edgeOf(checked(documentOf(null, '192.0.2.0/24')), { clock: () => 0, random: seeded(seed) });
}

/** The answers to some requests, with their traces. */
function answers(edge: EdgeOfFile, seed: number) {
  const random = seeded(seed);
  return Array.from({ length: REQUESTS }, () => {
    const path = pick(random, ['/', '/q', '/p1/x', '/P2/x', '/p3%2Fx', '/p4//x', '/other']);
    const headers = { [pick(random, HEADER)]: 'yes' };
    const from = {
      clientIp: pick(random, ['192.0.2.7', '198.51.100.7']),
      clientPort: Math.floor(random() * RULES),
    };
    const method = pick(random, ['GET', 'POST']);
    const { status, trace, exchange } = edge.decide(
      { method, url: `https://shop.test${path}`, headers },
      from,
    );
    const edits = exchange.verdicts.map((verdict) => (verdict?.verdict === 'pass' ? verdict.edits : null));
    return { status, trace, edits };
  });
}

const rulesIn = (work: () => void): number => callsIn('src/policy/compile.ts', work).get('compileRule') ?? 0;

describe('a large policy that was compiled ahead of the swap', () => {
  it(`decides as one that the swap compiled, for ${POLICIES} policies`, () => {
    const statuses = new Set<number>();
    for (let seed = 1; seed <= POLICIES; seed++) {
      const text = policyOf(seeded(seed));
      expect(text.length).toBeGreaterThan(LARGE_POLICY);
      const [ahead, direct] = [running(seed), running(seed)];
      const next = checked(documentOf(text, '192.0.2.0/24'));
      atOnce(ahead.ahead(next));
      ahead.swapTo(next);
      direct.swapTo(checked(documentOf(text, '192.0.2.0/24')));
      const answered = answers(ahead, seed);
      expect(answered, `seed ${seed}`).toEqual(answers(direct, seed));
      for (const { status } of answered) statuses.add(status);
    }
    expect(statuses.size).toBeGreaterThan(3);
  });

  it('is compiled with pauses, and not again by the swap', () => {
    const edge = running(1);
    const next = checked(documentOf(policyOf(seeded(1)), '192.0.2.0/24'));
    let pauses = 0;
    const compiled = rulesIn(() => {
      const work = edge.ahead(next);
      while (work.next().done !== true) pauses++;
    });
    expect(compiled).toBe(RULES + 1);
    expect(pauses).toBeGreaterThan(4);
    expect(rulesIn(() => edge.swapTo(next))).toBe(0);
    expect(rulesIn(() => running(1).swapTo(checked(documentOf(policyOf(seeded(1)), '192.0.2.0/24'))))).toBe(
      RULES + 1,
    );
  });

  it('is compiled again if an IP policy that it names has changed meanwhile', () => {
    const value = JSON.stringify({
      on_http_request: [
        ...Array.from({ length: RULES }, (_, at) => ({
          expressions: [`conn.client_port == ${at}`],
          actions: [{ type: 'deny' }],
        })),
        { actions: [{ type: 'restrict-ips', config: { ip_policies: ['office'] } }] },
      ],
    });
    const cache = validationCache();
    const given = documentOf(value, '192.0.2.0/24');
    const edge = running(1);
    atOnce(edge.ahead(checked(given, cache)));
    const other = documentOf(value, '198.51.100.0/24');
    edge.swapTo(checked({ ...given, ip_policies: other.ip_policies }, cache));
    const statusOf = (clientIp: string) =>
      edge.decide({ url: 'https://shop.test/' }, { clientIp, clientPort: RULES }).status;
    expect([statusOf('192.0.2.7'), statusOf('198.51.100.7')]).toEqual([403, 200]);
  });

  it('changes nothing that runs, and nothing is kept of it if the swap never comes', () => {
    const edge = running(1);
    const before = edge.runtime.current();
    atOnce(edge.ahead(checked(documentOf(policyOf(seeded(1)), '192.0.2.0/24'))));
    expect(edge.runtime.current()).toBe(before);
    expect(edge.runtime.revision()).toBe(1);
    const next = documentOf(
      JSON.stringify({ on_http_request: [{ actions: [{ type: 'deny' }] }] }),
      '192.0.2.0/24',
    );
    edge.swapTo(checked(next));
    expect(edge.decide({ url: 'https://shop.test/' }).status).toBe(403);
  });
});
