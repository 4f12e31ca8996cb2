import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { scenarioLoader } from '../../../src/project_files/load_scenario.ts';
import { createSimulator } from '../../../src/simulator/create_simulator.ts';
import { runFile, ONCE } from '../../../src/simulator/run_file.ts';
import { environmentSecrets } from '../../../src/cli/environment_secrets.ts';
import { type EdgeOptions, createEdge } from '../../../src/edgeproof.ts';
import { checkWholeEdge } from '../../../src/edge/semantic_checks.ts';
import { summaryOf } from '../../../src/edge/explain.ts';
import { beginStream } from '../../../src/edge/streams.ts';
import { connectionOf } from '../../../src/engine/request_like.ts';
import { redactIn } from '../../../src/engine/redact.ts';
import { startStream } from '../../../src/engine/stream.ts';
import { traceOf } from '../../../src/engine/trace.ts';
import { tcpConnectionClosed } from '../../../src/events/tcp_connection.ts';
import { keepSecrets, secretProvider } from '../../../src/edge/secrets.ts';
import { onePolicy } from '../../one_route.ts';

const SECRETS = { team: { ann: 'Correct:Horse/Battery "1"', bob: 'staple-1234' }, empty: {} };

function decide(
  policy: object,
  options: EdgeOptions = { secrets: SECRETS },
  headers: [string, string][] = [],
) {
  const edge = createEdge(onePolicy(policy), { clock: () => 0, random: () => 0, ...options });
  return edge.decide({ url: 'https://shop.test/', headers });
}

const requestRule = (...actions: object[]) => ({ on_http_request: [{ actions }] });

describe('secrets of policies', () => {
  it('are read by expressions and templates, and affect decisions', () => {
    const policy = {
      on_http_request: [
        {
          expressions: ["getReqHeader('x-token') == [secrets.get('team', 'bob')]"],
          actions: [{ type: 'deny', config: { status_code: 418 } }],
        },
      ],
    };
    expect(decide(policy, { secrets: SECRETS }, [['x-token', 'staple-1234']]).status).toBe(418);
    expect(decide(policy, { secrets: SECRETS }, [['x-token', 'other']]).status).toBe(200);
  });

  it.each([
    ['no such vault', "${secrets.get('none', 'ann')}", { secrets: SECRETS }],
    ['no such name', "${secrets.get('team', 'none')}", { secrets: SECRETS }],
    ['a name that all objects have', "${secrets.get('team', 'constructor')}", { secrets: SECRETS }],
    ['a vault that all objects have', "${secrets.get('__proto__', 'toString')}", { secrets: SECRETS }],
    ['no provider at all', "${secrets.get('team', 'ann')}", {}],
  ])('fail closed: %s', (_name, text, options) => {
    const { status, trace } = decide(
      requestRule({ type: 'add-headers', config: { headers: { 'x-a': text } } }),
      options,
    );
    expect(status).toBe(500);
    expect(trace.find(({ module }) => module === 'traffic_policy')).toMatchObject({
      code: 'traffic_policy.failed',
      detail: { error: 'ERR_SERVICE_2238' },
    });
  });

  it('are in no trace, event, explanation or log, whatever the way', () => {
    const ann = "${secrets.get('team', 'ann')}";
    const policy = {
      on_http_request: [
        {
          actions: [
            {
              type: 'log',
              config: {
                metadata: {
                  ann,
                  deep: [{ in: `<${ann}>` }],
                  bob: "${secrets.get('team', 'bob').encodeBase64()}",
                },
              },
            },
            { type: 'url-rewrite', config: { from: '/$', to: "/${url.escape(secrets.get('team', 'ann'))}" } },
          ],
        },
      ],
      on_http_response: [
        {
          actions: [
            { type: 'add-headers', config: { headers: { 'x-bob': "${secrets.get('team', 'bob')}" } } },
            { type: 'log', config: { metadata: { url: '${req.url}' } } },
          ],
        },
      ],
    };
    const edge = createEdge(onePolicy(policy), { secrets: SECRETS, clock: () => 0, random: () => 0 });
    const { event, trace, exchange } = edge.decide({ url: 'https://shop.test/' });
    const told = JSON.stringify([event, trace, edge.explain({ url: 'https://shop.test/' })]);
    for (const part of ['Horse', 'horse', 'staple', 'c3RhcGxl', 'Battery', 'battery']) {
      expect(told).not.toContain(part);
    }
    expect(told).toContain('***');
    expect(event.object.traffic_policy.logs[0]!.metadata).toEqual({
      ann: '***',
      deep: [{ in: '<***>' }],
      bob: '***',
    });
    expect(event.object.http.response.headers['X-Bob']).toEqual(['***']);
    // The client still gets the secret: redaction is for logs and traces.
    expect(exchange.response!.headers).toContain('staple-1234');
  });

  it('are in no report about a connection without HTTP', () => {
    const policy = {
      on_tcp_connect: [
        { actions: [{ type: 'log', config: { metadata: { bob: "${secrets.get('team', 'bob')}" } } }] },
      ],
    };
    const config = {
      backends: { app: { static: { address: '127.0.0.1:3000' } } },
      edges: {
        tcp: {
          t: {
            hostports: ['t.test:9000'],
            backend: { backend_id: 'app' },
            traffic_policy: { value: JSON.stringify(policy) },
          },
        },
      },
    };
    const { runtime } = createEdge(config, { secrets: SECRETS, clock: () => 0, random: () => 0 });
    const at = { kind: 'tcp', host: 't.test', port: 9_000 } as const;
    const exchange = beginStream(runtime.current(), connectionOf({}, 'http', 0), at, runtime.world);
    startStream(exchange);
    const event = tcpConnectionClosed(exchange, 0);
    expect(event.traffic_policy.logs).toEqual([{ metadata: { bob: '***' } }]);
    expect(JSON.stringify([event, traceOf(exchange)])).not.toContain('staple');
  });

  it('are in no error message', () => {
    const { trace } = decide(
      requestRule({ type: 'redirect', config: { to: "no url ${secrets.get('team', 'bob')}\n" } }),
    );
    expect(JSON.stringify(trace)).not.toContain('staple');
  });

  it('cost nothing if none was read', () => {
    const { get, redact, redactor } = keepSecrets(secretProvider(SECRETS));
    expect(redact('staple-1234')).toBe('staple-1234');
    expect(redactor()).toBeNull();
    get('team', 'bob');
    expect(redactor()!('staple-1234')).toBe('***');
  });

  it('are in no summary of a request', () => {
    const policy = requestRule({
      type: 'log',
      config: { metadata: { bob: "${secrets.get('team', 'bob')}" } },
    });
    const edge = createEdge(onePolicy(policy), { secrets: SECRETS });
    const { exchange } = edge.decide({ url: 'https://shop.test/staple-1234?key=staple-1234' });
    expect(summaryOf(exchange, () => null).target).toBe('/***?key=***');
    expect(edge.explain({ url: 'https://shop.test/staple-1234' }).request.url).toBe('https://shop.test/***');
  });

  it('leave a value without them as it is', () => {
    const value = { texts: ['a', { b: 'c' }], d: 1 };
    expect(redactIn(value, (text) => text)).toBe(value);
    expect(redactIn(value, (text) => (text === 'c' ? '***' : text))).toEqual({
      texts: ['a', { b: '***' }],
      d: 1,
    });
    expect(redactIn(value, (text) => (text === 'b' ? '***' : text))).toEqual({
      texts: ['a', { '***': 'c' }],
      d: 1,
    });
  });

  it('hide the longer one if one is part of another', () => {
    const kept = keepSecrets(secretProvider({ v: { short: 'abc', long: 'abcdef' } }));
    kept.get('v', 'short');
    kept.get('v', 'long');
    expect(kept.redact('abcdef abc')).toBe('*** ***');
  });

  it('come from the environment', () => {
    const { get } = environmentSecrets({ EDGEPROOF_SECRET_TEAM_ANN_KEY: 'a' });
    expect(get('team', 'ann-key')).toBe('a');
    expect(get('team', 'ann')).toBeUndefined();
  });
});

describe('secrets in simulation', () => {
  it('of a scenario file', async () => {
    const path = fileURLToPath(new URL('../../../fixtures/scenarios/secrets.scenario.yaml', import.meta.url));
    const { checked, edge, findings } = await scenarioLoader()(path);
    expect([checked.diagnostics, findings]).toEqual([[], []]);
    const { cases } = runFile(checked, edge!, { ...ONCE, lines: true });
    expect(cases.map(({ status }) => status)).toEqual(['passed', 'passed', 'passed']);
  });

  it('of a simulator in a program', () => {
    const policy = requestRule({
      type: 'add-headers',
      config: { headers: { 'x-a': "${secrets.get('team', 'bob')}" } },
    });
    const edge = createEdge(onePolicy(policy));
    expect(createSimulator(edge, { secrets: SECRETS }).send('GET /').status).toBe(200);
    expect(createSimulator(edge).send('GET /').status).toBe(500);
  });
});

describe('checking the names of secrets', () => {
  const found = (text: string, secrets?: EdgeOptions['secrets']) =>
    checkWholeEdge(
      { value: onePolicy(requestRule({ type: 'add-headers', config: { headers: { 'x-a': text } } })) },
      secrets === undefined ? {} : { secrets },
    ).diagnostics.map(({ code, message, hint, span, source }) => [
      code,
      message.split(',')[0],
      hint,
      span && source!.text.slice(span.start, span.end),
    ]);

  it.each([
    ["${secrets.get('taem', 'ann')}", "unknown vault 'taem'", "did you mean 'team'?", "'taem'"],
    [
      "${secrets.get('team', 'anne')}",
      "the vault 'team' has no secret 'anne'",
      "did you mean 'ann'?",
      "'anne'",
    ],
    [
      "x${secrets.get('empty', 'a')}",
      "the vault 'empty' has no secret 'a'",
      'there are no secrets in it',
      "'a'",
    ],
  ])('%s', (text, message, hint, marked) => {
    expect(found(text, SECRETS)).toEqual([['policy.unknown_secret', message, hint, marked]]);
  });

  it.each([
    ['a name that is there', "${secrets.get('team', 'ann')}", SECRETS],
    ['a name that is known only at run time', '${secrets.get(req.host, req.method)}', SECRETS],
    ['a provider that cannot list', "${secrets.get('none', 'ann')}", { get: () => undefined }],
    ['nothing known of secrets', "${secrets.get('none', 'ann')}", undefined],
  ])('has no findings for %s', (_name, text, secrets) => {
    expect(found(text, secrets)).toEqual([]);
  });
});
