import { describe, expect, test } from 'vitest';
import type { ClientCertificateFacts } from '../../../src/crypto/certificate_facts.ts';
import { compile, EvalError, namesUnder, stringMap, Timestamp } from '../../../src/cel/index.ts';
import { ACTION_FACTS } from '../../../src/filters/table.ts';
import { Activation } from '../../../src/policy/env/activation.ts';
import { EVENT_FILTER_SCOPE } from '../../../src/events/filter_scope.ts';
import { LEGACY_NAMES } from '../../../src/policy/env/legacy_names.ts';
import { SCOPE_PHASES } from '../../../src/filters/phase.ts';
import { scopeFor } from '../../../src/policy/env/scopes.ts';
import {
  activation,
  CONNECTION,
  evaluate,
  findings,
  REQUEST,
  RESPONSE,
  untrue,
  valuesOf,
} from './exchange.ts';

/** Every variable and field that the reference lists, `+` meaning a string with fields. */
const LISTED: Readonly<Record<string, string>> = {
  'conn.':
    'bytes_in bytes_out client_ip client_port server_ip server_port server_region ts.start ts.end geo.city geo.country geo.country_code geo.latitude geo.longitude geo.radius geo.subdivision tls.cipher_suite tls.ja4_fingerprint tls.negotiated_alpn tls.session_resumed tls.sni tls.version tls.client tls.server k8s.pod',
  'conn.client_ip.': 'categories is_on_blocklist is_tor_node as.number as.organization',
  'conn.client_ip.geo.location.':
    'city continent country country_code is_eu latitude longitude metro_code postal_code radius subdivision timezone',
  'conn.server_ip.geo.registered_location.': 'city country_code timezone',
  'conn.tls.client.':
    'extensions issuer subject san serial_number signature_algorithm validity.not_before validity.not_after pem issuer.common_name subject.country subject.locality subject.organization subject.organizational_unit subject.postal_code subject.province subject.street_address san.dns_names san.email_addresses san.ip_addresses san.uris',
  'conn.k8s.pod.':
    'id metadata.name metadata.namespace metadata.annotations metadata.error_code metadata.error_message',
  'endpoint.': 'addr host id port protocol url',
  'req.':
    'content_encoding content_length content_type content_type.parameters content_type.raw cookies headers host location method trailers ts.body_received ts.header_received url user_agent version',
  'req.url.': 'authority host path port query query_params raw raw_path scheme uri user_password',
  'req.user_agent.': 'name version os os_version device is_mobile is_tablet is_desktop is_bot url',
  'res.':
    'content_encoding content_length content_type content_type.raw cookies headers location status_code trailers',
  'time.': 'now',
  '': 'vars',
};

const listed = Object.entries(LISTED).flatMap(([prefix, names]) =>
  names.split(' ').map((name) => prefix + name),
);

describe('variables', () => {
  test.each(listed)('%s is known in the response phase', (name) => {
    const { diagnostics } = compile(name, scopeFor('on_http_response'));
    // Facts about addresses are often absent, which is not an error.
    expect(diagnostics.filter(({ code }) => code !== 'expr.may_be_missing')).toEqual([]);
  });

  test.each(SCOPE_PHASES)('every variable of %s is a value or absent', (phase) => {
    const scope = scopeFor(phase);
    const at = activation();
    for (const [name, variable] of scope.variables) {
      const { program } = compile(name, scope);
      const outcome = program!.evaluate(at);
      const isAbsent = outcome instanceof EvalError;
      const isText = variable.type.kind === 'object' && variable.type.text !== undefined;
      const text = variable.readText?.(at) ?? outcome;
      expect({
        name,
        error: isAbsent ? outcome.code : 'none',
        mayBeAbsent: !isAbsent || variable.optional,
        isText: !isText || isAbsent || (typeof outcome === 'string' && text === outcome),
        isSentence: /^[A-Z`].*\.$/s.test(variable.doc),
      }).toEqual({
        name,
        error: isAbsent ? 'expr.absent' : 'none',
        mayBeAbsent: true,
        isText: true,
        isSentence: true,
      });
    }
  });

  test('values of the example exchange', () => {
    const expected = {
      'conn.client_ip': '203.0.113.7',
      'conn.client_port': 50_123,
      'conn.server_port': 443,
      'conn.ts.start': new Timestamp(1_770_091_506, 250_000_000),
      'conn.tls.sni': 'shop.example',
      'conn.tls.version': 'TLSv1.3',
      'conn.tls.session_resumed': false,
      'endpoint.addr': 'shop.example:443',
      'endpoint.url': 'https://shop.example',
      'endpoint.protocol': 'https',
      'req.method': 'GET',
      'req.version': 'HTTP/1.1',
      'req.content_type': 'application/json',
      'req.content_type.raw': 'application/JSON; charset="utf-8"',
      "req.content_type.parameters['charset']": 'utf-8',
      'req.content_encoding': [],
      'req.location': '',
      'req.trailers': {},
      "req.headers['X-TEAM']": ['blue', 'green'],
      "'X-Team' in req.headers": true,
      "req.headers.exists(name, name == 'x-team')": true,
      "req.cookies['lane'].map(cookie, cookie.value)": ['beta', 'old'],
      'res.status_code': 200,
      "res.content_type == 'text/html'": true,
      'time.now': '2026-02-03T04:05:07.5Z',
      "timestamp(time.now) - conn.ts.start == duration('1.25s')": true,
      vars: {},
    };
    expect(valuesOf(Object.keys(expected))).toEqual(expected);
  });

  test('facts that only some front ends have are absent elsewhere', () => {
    const given = {
      connection: {
        bytesIn: 10,
        bytesOut: 20,
        endMs: 1_000,
        tls: { ...CONNECTION.tls!, negotiatedAlpn: 'h2', ja4Fingerprint: 't13d' },
      },
      request: {
        receivedMs: 1,
        bodyReceivedMs: 2_500,
        headers: ['Content-Length', '12', 'Content-Encoding', 'gzip, BR'],
        trailers: ['X-Sum', '7'],
        version: '2.0' as const,
      },
    };
    const at = activation(given);
    const sources = [
      "conn.bytes_in + conn.bytes_out == 30 && conn.ts.end == timestamp(1) && conn.tls.negotiated_alpn == 'h2'",
      "conn.tls.ja4_fingerprint == 't13d' && req.ts.header_received < req.ts.body_received",
      "req.content_length == 12 && req.content_encoding == ['gzip', 'br'] && req.trailers['x-SUM'] == ['7']",
      "req.version == 'HTTP/2.0' && req.ts.body_received == timestamp('1970-01-01T00:00:02.5Z')",
    ];
    expect(untrue(sources, at)).toEqual([]);
    expect(
      evaluate(
        'has(conn.bytes_in) || has(conn.ts.end) || has(req.ts.header_received) || has(req.content_length)',
      ),
    ).toBe(false);
    expect(evaluate('has(conn.tls.version)', activation({ connection: { tls: null } }))).toBe(false);
    const lengths = ['-1', '1, 1', 'x', '99999999999999999999'].map((length) =>
      evaluate('has(req.content_length)', activation({ request: { headers: ['Content-Length', length] } })),
    );
    expect(lengths).toEqual([false, false, false, false]);
  });

  test('certificates: with details, or only a serial number and a name', () => {
    const texts: readonly string[] = ['X'];
    const name = {
      text: 'CN=ada,O=X',
      commonName: 'ada',
      country: texts,
      locality: texts,
      organization: texts,
      organizationalUnit: texts,
      postalCode: texts,
      province: texts,
      streetAddress: texts,
    };
    const full: ClientCertificateFacts = {
      serialNumber: '0a1b',
      subjectCn: 'ada',
      details: {
        issuer: { ...name, text: 'CN=ca', commonName: 'ca' },
        subject: name,
        san: {
          text: 'DNS:a.example',
          dnsNames: ['a.example'],
          emailAddresses: [],
          ipAddresses: [],
          uris: [],
        },
        extensions: [{ id: '2.5.29.15', critical: true, value: Uint8Array.of(3, 2) }],
        signatureAlgorithm: 'ECDSA-SHA256',
        notBeforeMs: 0,
        notAfterMs: 86_400_000,
        pem: '-----BEGIN CERTIFICATE-----',
      },
    };
    const tls = {
      ...CONNECTION.tls!,
      clientCertificate: full,
      serverCertificate: { serialNumber: '1', subjectCn: 'shop.example' },
    };
    const at = activation({ connection: { tls } });
    const sources = [
      "conn.tls.client.subject == 'CN=ada,O=X' && conn.tls.client.subject.common_name == 'ada'",
      "conn.tls.client.issuer == 'CN=ca' && 'X' in conn.tls.client.issuer.organization",
      "conn.tls.client.san == 'DNS:a.example' && conn.tls.client.san.dns_names[0] == 'a.example'",
      "conn.tls.client.extensions.exists(e, e.id == '2.5.29.15' && e.critical && e.value.size() == 2)",
      "conn.tls.client.validity.not_after - conn.tls.client.validity.not_before == duration('24h')",
      "conn.tls.client.serial_number == '0a1b' && conn.tls.client.pem.startsWith('-----')",
      "conn.tls.server.subject == 'CN=shop.example' && !has(conn.tls.server.issuer) && !has(conn.tls.server.validity.not_after)",
    ];
    expect(untrue(sources, at)).toEqual([]);
  });
});

describe('phases', () => {
  test('each knows what has happened so far', () => {
    expect(findings("req.method == 'GET'", 'on_tcp_connect')).toEqual([
      expect.stringContaining('the request is known from on_http_request on'),
    ]);
    expect(findings('res.status_code == 200', 'on_http_request')).toEqual([
      expect.stringContaining('the response is known from on_http_response on'),
    ]);
    expect(findings('actions.service.rate_limit.limited', 'on_tcp_connect')).toEqual([
      expect.stringContaining('`rate-limit` runs from on_http_request on'),
    ]);
    expect(findings("req.method == 'GET' && res.status_code == 200", 'on_http_response')).toEqual([]);
  });

  test('only a retry condition knows its attempts', () => {
    expect(findings('attempts < 3 && last_attempt.res.status_code >= 500', 'retry')).toEqual([]);
    expect(findings('attempts < 3', 'on_http_request').join()).toContain('attempts');
    const at = activation();
    at.attempts = 2;
    at.lastAttempt = { res: { status_code: 503 } };
    expect(
      evaluate(
        'attempts == 2 && last_attempt.res.status_code == 503 && !has(last_attempt.error)',
        at,
        'retry',
      ),
    ).toBe(true);
  });

  test.each(LEGACY_NAMES)('%s is refused, with its new name', (old, now) => {
    const found = findings(old);
    expect(found).toHaveLength(1);
    expect(found[0]).toContain(`\`${now}\``);
    expect(found[0]).toMatch(/^error /);
  });

  test('completion knows every level', () => {
    const scope = scopeFor('on_http_request');
    expect(namesUnder(scope, '')).toEqual(
      expect.arrayContaining(['conn', 'req', 'endpoint', 'time', 'vars', 'actions']),
    );
    expect(namesUnder(scope, '')).not.toContain('res');
    expect(namesUnder(scope, 'req.url.')).toContain('query_params');
    expect(namesUnder(scope, 'conn.client_ip.geo.location.')).toContain('country_code');
  });
});

describe('results of actions and variables of the policy', () => {
  test('every action is absent until it has run', () => {
    const at = activation();
    const names = [...ACTION_FACTS.values()].flatMap(({ result }) =>
      result?.row === undefined ? [] : [result.name],
    );
    expect(names.length).toBeGreaterThan(15);
    const present = names.filter((name) => evaluate(`has(actions.service.${name})`, at) !== false);
    expect(present).toEqual([]);
  });

  test('the last result of an action is kept, others stay', () => {
    const at = activation();
    at.setResult('restrict_ips', { action: 'deny', matched_cidr: '203.0.113.0/24' });
    at.setResult('rate_limit', { limited: false, bucket_key: 'a' });
    at.setResult('rate_limit', {
      limited: true,
      bucket_key: 'b',
      error: { code: 'ERR_SERVICE_1', message: 'no' },
    });
    const source =
      "actions.service.rate_limit.limited && actions.service.rate_limit.bucket_key == 'b' && actions.service.restrict_ips.action == 'deny' && actions.service.rate_limit.error.code == 'ERR_SERVICE_1'";
    expect(evaluate(source, at)).toBe(true);
    expect(evaluate('has(actions.service.restrict_ips.error)', at)).toBe(false);
  });

  test('the name of the service is a parameter', () => {
    const at = activation();
    at.setResult('rate_limit', { limited: true, bucket_key: '' });
    const { program } = compile<Activation>(
      'actions.acme.rate_limit.limited',
      scopeFor('on_http_request', { service: 'acme' }),
    );
    expect(program!.evaluate(at)).toBe(true);
    expect(
      compile('actions.service.rate_limit', scopeFor('on_http_request', { service: 'acme' })).program,
    ).toBeUndefined();
    expect(scopeFor('on_http_request')).toBe(scopeFor('on_http_request', { service: 'service' }));
  });

  test('set-vars: later ones replace, and a new phase starts without', () => {
    const at = activation();
    at.setVar('lane', 'beta');
    const before = at.vars;
    at.setVar('lane', 'old');
    at.setVar('__proto__', 7);
    expect(evaluate("vars.lane == 'old' && vars['__proto__'] == 7 && !has(vars.other)", at)).toBe(true);
    expect(evaluate('vars.other', at)).toMatchObject({ code: 'expr.no_such_key' });
    expect(before['lane']).toBe('beta');
    at.setResult('log', { metadata: stringMap() });
    at.enterPhase({ status: 404, headers: ['x-a', 'b'] });
    expect(
      evaluate(
        "vars.size() == 0 && res.status_code == 404 && res.headers['x-a'] == ['b'] && has(actions.service.log)",
        at,
      ),
    ).toBe(true);
  });

  test('after an edit, expressions see the new request and response', () => {
    const at = activation();
    const sources = [
      'req.url',
      'req.url.path',
      'req.url.uri',
      "getReqHeader('x-team').join()",
      "'x-new' in req.headers",
      'req.user_agent.name',
      'req.content_type',
      'req.cookies.size()',
      "getQueryParam('page').size()",
    ];
    const read = (): unknown[] => sources.map((source) => evaluate(source, at));
    expect(read()).toEqual([
      expect.stringContaining('/v1/things?'),
      '/v1/things',
      '/v1/things?page=2&tag=a+b&tag=c',
      'bluegreen',
      false,
      'curl',
      'application/json',
      2,
      1,
    ]);
    at.changeRequest({
      ...REQUEST,
      path: '/v2',
      query: undefined,
      headers: ['x-new', '1', 'user-agent', 'Wget/1'],
    });
    expect(read()).toEqual(['https://shop.example/v2', '/v2', '/v2', '', true, 'Wget', '', 0, 0]);
    expect(evaluate("'content-type' in res.headers", at)).toBe(true);
    at.changeResponse({ ...RESPONSE, headers: [] });
    expect(
      evaluate("'content-type' in res.headers || res.content_type != '' || hasResCookie('session')", at),
    ).toBe(false);
  });

  test('making an activation parses nothing', () => {
    const trap: ProxyHandler<object> = {
      get: (_target, name) => {
        throw new Error(`read ${String(name)}`);
      },
    };
    const nothing = new Proxy({}, trap) as never;
    expect(() => new Activation(nothing, nothing, nothing, nothing, nothing)).not.toThrow();
  });
});

describe('event filters', () => {
  const event = {
    conn: {
      client_ip: '203.0.113.7',
      server_ip: '198.51.100.1',
      server_name: 'api.example.test',
      server_port: 443,
    },
  };

  test('read filterable fields', () => {
    const { program } = compile(
      "ev.conn.server_port == 443 && ev.conn.server_name.endsWith('.example.test') && inCidrRange(ev.conn.client_ip, '203.0.113.0/24')",
      EVENT_FILTER_SCOPE,
    );
    expect(program!.evaluate(event)).toBe(true);
  });

  test.each([
    'ev.http.request.method',
    'ev.http.response.status_code',
    'ev.conn.start_ts',
    'ev.conn.bytes_in',
    'ev.traffic_policy.logs',
    'ev.tls.version',
    'ev.oauth.user.id',
  ])('%s is refused as not filterable', (path) => {
    const { diagnostics } = compile(path, EVENT_FILTER_SCOPE);
    expect(diagnostics.map((one) => one.message).join()).toContain('not filterable');
  });

  test('have no access to the exchange, randomness or time', () => {
    const sources = [
      'req.method',
      'conn.client_ip',
      'time.now',
      'rand.double()',
      "getReqHeader('x')",
      'event_timestamp',
    ];
    const known = sources.filter((source) => compile(source, EVENT_FILTER_SCOPE).program !== undefined);
    expect(known).toEqual([]);
  });
});
