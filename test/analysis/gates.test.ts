import { describe, expect, test } from 'vitest';
import { certifyProperty } from '../../src/analysis/certify.ts';
import { classesOf } from '../../src/analysis/classes.ts';
import { prove } from '../../src/analysis/prove.ts';
import type { EdgeConfig } from '../../src/edge/document/schema.ts';
import { createEdge } from '../../src/edgeproof.ts';
import { ACTION_FACTS } from '../../src/filters/table.ts';
import { hashOf, verify } from '../../src/proof/verify.ts';
import { onePolicy, oneRoute } from '../one_route.ts';

const request = (...actions: readonly object[]) => onePolicy({ on_http_request: [{ actions }] });
const configOf = (edge: object): EdgeConfig => createEdge(edge).config;
const forwardedWithout = (...without: readonly string[]) =>
  ({ name: 'gated', never: { end: 'forwarded', backend: 'app', without } }) as const;

/** A certificate that claims the property of an edge for which it is true, presented for one that it may not be true for. */
function isAccepted(edge: EdgeConfig, shown: EdgeConfig, without: string): boolean {
  const property = forwardedWithout(without);
  try {
    verify({ ...certifyProperty(shown, property, []), hashes: [hashOf(edge)] }, [edge]);
    return true;
  } catch {
    return false;
  }
}

const GATES: readonly (readonly [type: string, config: object])[] = [
  ['basic-auth', { credentials: ['ann:password1'] }],
  ['restrict-ips', { allow: ['10.0.0.0/8'] }],
  ['verify-webhook', { provider: 'github', secret: 'a webhook secret' }],
  [
    'rate-limit',
    {
      name: 'n',
      algorithm: 'sliding_window',
      capacity: 1,
      rate: '60s',
      bucket_key: ['conn.client_ip'],
    },
  ],
  ['circuit-breaker', { volume_threshold: 1, tripped_duration: '30s' }],
];

describe('an action that only reports is not a gate', () => {
  test.each(GATES)('%s', (type, config) => {
    const [gated, open] = [{}, { enforce: false }].map((more) =>
      configOf(request({ type, config: { ...config, ...more } })),
    );
    expect(prove(gated!, forwardedWithout(type)).verdict).toBe('PROVED');
    expect(isAccepted(gated!, gated!, type)).toBe(true);
    const proof = prove(open!, forwardedWithout(type));
    expect(proof).toMatchObject({ verdict: 'REFUTED', observed: { backend: 'app' } });
    const { steps } = (proof as Extract<typeof proof, { verdict: 'REFUTED' }>).observed.explanation;
    const own = steps.flatMap(({ inner = [] }) => inner).filter(({ name }) => name === type);
    expect(own.map(({ detail }) => detail['enforced'])).toEqual([false]);
    expect(isAccepted(open!, open!, type)).toBe(false);
    expect(classesOf(open!).map(({ outcome }) => outcome)).toContain(
      `forwarded to app through ${type} (which stops nothing)`,
    );
  });

  test('these are all that can be set so', () => {
    const settable = Array.from(ACTION_FACTS.values()).filter(({ ends, examples }) =>
      examples.good.some(
        (config) =>
          typeof ends.when === 'function' && ends.when({ ...config, enforce: false } as never) === 'never',
      ),
    );
    expect(GATES.map(([type]) => type)).toEqual(expect.arrayContaining(settable.map(({ type }) => type)));
  });

  test('behind another that does not, the other is', () => {
    const config = configOf(
      request(
        { type: 'basic-auth', config: { credentials: ['ann:password1'], enforce: false } },
        { type: 'restrict-ips', config: { allow: ['10.0.0.0/8'] } },
      ),
    );
    expect(prove(config, forwardedWithout('basic-auth')).verdict).toBe('REFUTED');
    expect(prove(config, forwardedWithout('basic-auth', 'restrict-ips')).verdict).toBe('PROVED');
  });

  test('a later rule that reads its result is not decided', () => {
    const config = configOf(
      onePolicy({
        on_http_request: [
          { actions: [{ type: 'basic-auth', config: { credentials: ['ann:password1'], enforce: false } }] },
          {
            expressions: ['!actions.service.basic_auth.credentials.authorized'],
            actions: [{ type: 'deny', config: {} }],
          },
        ],
      }),
    );
    const proof = prove(config, forwardedWithout('basic-auth'));
    expect(proof.verdict).toBe('UNDECIDED');
    expect(JSON.stringify(proof)).toContain('credentials.authorized');
  });
});

describe('nor is one', () => {
  test('that continues after an error', () => {
    const asks = (onError: string) =>
      configOf(
        request({
          type: 'http-request',
          config: { url: 'https://auth.test/check', timeout: '2s', on_error: onError },
        }),
      );
    const property = forwardedWithout('http-request');
    expect(prove(asks('halt'), property).verdict).toBe('PROVED');
    expect(prove(asks('continue'), property)).toMatchObject({ verdict: 'REFUTED' });
    expect(isAccepted(asks('continue'), asks('continue'), 'http-request')).toBe(false);
  });

  test('that runs after the upstream', () => {
    const asks = { type: 'http-request', config: { url: 'https://auth.test/check', on_error: 'halt' } };
    const config = configOf(onePolicy({ on_http_response: [{ actions: [asks] }] }));
    const proof = prove(config, forwardedWithout('http-request'));
    expect(proof).toMatchObject({ verdict: 'REFUTED' });
    expect(isAccepted(config, config, 'http-request')).toBe(false);
  });

  test('that is switched off', () => {
    const oauth = { provider: { google: {} } };
    expect(prove(configOf(oneRoute({ oauth })), forwardedWithout('login')).verdict).toBe('PROVED');
    const off = configOf(oneRoute({ oauth: { ...oauth, enabled: false } }));
    expect(prove(off, forwardedWithout('login')).verdict).toBe('REFUTED');
    const login = [{ actions: [{ type: 'oauth', config: { provider: 'google' } }] }];
    expect(prove(configOf(onePolicy({ on_http_request: login })), forwardedWithout('login')).verdict).toBe(
      'PROVED',
    );
    const disabled = configOf(onePolicy({ enabled: false, on_http_request: login }));
    expect(prove(disabled, forwardedWithout('login')).verdict).toBe('REFUTED');
  });

  test('that is not executed', () => {
    const config = configOf(request({ type: 'owasp-crs-request', config: {} }));
    expect(prove(config, forwardedWithout('owasp-crs-request')).verdict).not.toBe('PROVED');
    expect(isAccepted(config, config, 'owasp-crs-request')).toBe(false);
  });

  test('that also serves requests without TLS', () => {
    const edge = oneRoute();
    const tls = (module: object) =>
      configOf({
        ...edge,
        edges: { https: { shop: { ...edge.edges.https.shop, tls_termination: module } } },
      });
    const property = forwardedWithout('tls_termination');
    expect(prove(tls({ redirect_http: true }), property).verdict).toBe('PROVED');
    expect(prove(tls({}), property)).toMatchObject({
      verdict: 'REFUTED',
      witness: { url: 'http://shop.test/' },
    });
    expect(isAccepted(tls({}), tls({}), 'tls_termination')).toBe(false);
  });
});

describe('a login that exempts preflights reads them as earlier actions left them', () => {
  const login = { type: 'oauth', config: { provider: 'google', allow_cors_preflight: true } };
  const preflight = { headers: { origin: 'https://evil.test', 'access-control-request-method': 'GET' } };
  const property = {
    ...forwardedWithout('login'),
    where: "!hasReqHeader('origin') && !hasReqHeader('access-control-request-method')",
  };

  test('an earlier action makes every OPTIONS request one', () => {
    const config = configOf(request({ type: 'add-headers', config: preflight }, login));
    expect(prove(config, property)).toMatchObject({
      verdict: 'REFUTED',
      witness: { method: 'OPTIONS', headers: [] },
      observed: { backend: 'app' },
    });
    expect(prove(configOf(request(login)), property).verdict).toBe('PROVED');
  });

  test('or takes its fields away, which is not decided', () => {
    const config = configOf(request({ type: 'remove-headers', config: { headers: ['origin'] } }, login));
    expect(prove(config, forwardedWithout('login'))).toMatchObject({
      verdict: 'UNDECIDED',
      open: [
        {
          reasons: expect.arrayContaining([
            "the request has the field 'origin', after an earlier action that changes it",
          ]) as unknown,
        },
      ],
    });
  });

  test('the module of the route edits the request later', () => {
    const edge = onePolicy(
      { on_http_request: [{ actions: [login] }] },
      { request_headers: { add: preflight.headers } },
    );
    expect(prove(configOf(edge), property).verdict).toBe('PROVED');
  });
});

describe('a relay past the routes', () => {
  const gated = oneRoute({ oauth: { provider: { google: {} } } });
  const withRelay = (backend: string) =>
    configOf({
      ...gated,
      backends: {
        ...gated.backends,
        db: { static: { address: 'localhost:5432' } },
        raw: { static: { address: 'localhost:3000' } },
        both: { weighted: { raw: 1, db: 1 } },
      },
      edges: {
        ...gated.edges,
        tcp: { relay: { hostports: ['1.tcp.test:5432'], backend: { backend_id: backend } } },
      },
    });

  test('leaves a property about its backend undecided', () => {
    for (const [backend, reached] of [
      ['db', 'db'],
      ['both', 'raw'],
    ] as const) {
      const config = withRelay(backend);
      const property = {
        name: 'n',
        never: { end: 'forwarded', backend: reached, without: ['login'] },
      } as const;
      expect(prove(config, property)).toMatchObject({
        verdict: 'UNDECIDED',
        open: [{ where: 'the TCP edge relay' }],
      });
      expect(() => verify(certifyProperty(config, property, [hashOf(config)]), [config])).toThrow(
        'the TCP edge relay relays to a backend, too',
      );
    }
  });

  test('does not touch others', () => {
    expect(prove(withRelay('db'), forwardedWithout('login')).verdict).toBe('PROVED');
    const closed = {
      name: 'n',
      where: "req.url.path == '/a'",
      never: { end: 'forwarded', without: ['login'] },
    } as const;
    expect(prove(withRelay('db'), closed).verdict).toBe('PROVED');
    expect(prove(withRelay('db'), { name: 'n', never: closed.never }).verdict).toBe('UNDECIDED');
  });
});

test('the paths of a login belong to it on the hosts of its route only', () => {
  const edge = oneRoute({ match: 'a.test/', oauth: { provider: { google: {} } } });
  const { shop } = edge.edges.https;
  shop.hostports = ['a.test:443', 'b.test:443'];
  shop.routes.push({ match_type: 'path_prefix', match: 'b.test/', backend: { backend_id: 'app' } });
  const config = configOf(edge);
  const property = { ...forwardedWithout('login'), where: "req.url.path.startsWith('/auth/')" };
  expect(prove(config, property)).toMatchObject({
    verdict: 'REFUTED',
    witness: { url: expect.stringMatching(/^https:\/\/b\.test\/auth\//) as unknown },
  });
  const own = { ...property, where: `${property.where} && req.url.host == 'a.test'` };
  expect(prove(config, own).verdict).toBe('PROVED');
});
