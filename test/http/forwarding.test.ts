import { describe, expect, it } from 'vitest';
import { forwardedResponse, requestForwarder, upgradeOf } from '../../src/http/forwarding.ts';
import { cpuMs } from '../cpu_time.ts';

const forward = requestForwarder({ auth: 'service-auth-', mtls: 'service-mtls-' });
const onward = (headers: readonly string[]) => forward(headers, 'shop.test', 'https', '192.0.2.7');

const FORWARDED = [
  'x-forwarded-for',
  '192.0.2.7',
  'x-forwarded-proto',
  'https',
  'x-forwarded-host',
  'shop.test',
];

describe('the fields of a request for an upstream', () => {
  it('keep end-to-end fields unchanged, and name the client', () => {
    expect(onward(['Host', 'shop.test', 'X-Mine', 'a', 'x-mine', 'B'])).toEqual([
      'host',
      'shop.test',
      'X-Mine',
      'a',
      'x-mine',
      'B',
      ...FORWARDED,
    ]);
  });

  const LOOK_ALIKES = [
    'service_auth_user_id',
    'Service-Auth_User-Email',
    'SERVICE_MTLS_SUBJECT_CN',
    'service.auth.user-id',
    'x_forwarded_for',
    'X-Forwarded_Proto',
    'X_FORWARDED_HOST',
    'Transfer_Encoding',
    'Content_Length',
    'Proxy_Authorization',
  ];

  it.each([
    ['drop', forward],
    ['pass', requestForwarder({ auth: 'service-auth-', mtls: 'service-mtls-' }, true)],
  ])('do not include fields that look like those of the edge: %s', (_, make) => {
    const fields = LOOK_ALIKES.flatMap((name) => [name, 'forged']);
    const out = make(['Host', 'shop.test', ...fields], 'shop.test', 'https', '192.0.2.7');
    expect(out).toEqual(['host', 'shop.test', ...FORWARDED]);
  });

  it('include other names with an underscore only if allowed', () => {
    const passing = requestForwarder({ auth: 'service-auth-', mtls: 'service-mtls-' }, true);
    const fields = ['api_key', 'a', 'X-Mine', 'b'];
    expect(onward(fields)).toEqual(['host', 'shop.test', 'X-Mine', 'b', ...FORWARDED]);
    expect(passing(fields, 'shop.test', 'https', '192.0.2.7')).toEqual([
      'host',
      'shop.test',
      ...fields,
      ...FORWARDED,
    ]);
  });

  it('name each client, even if they share a field list', () => {
    const fields = ['Host', 'shop.test', 'X-Mine', 'a'];
    const forwardedFor = (ip: string, authority = 'shop.test', scheme = 'https') =>
      forward(fields, authority, scheme, ip).slice(4);
    for (let turn = 0; turn < 3; turn++) {
      expect(forwardedFor('192.0.2.7')).toEqual(FORWARDED);
      expect(forwardedFor('192.0.2.8')[1]).toBe('192.0.2.8');
      expect(forwardedFor('192.0.2.8', 'other.test')[5]).toBe('other.test');
      expect(forwardedFor('192.0.2.8', 'other.test', 'http')[3]).toBe('http');
    }
  });

  it.each([
    ['Connection', 'keep-alive'],
    ['Keep-Alive', 'timeout=5'],
    ['Proxy-Authorization', 'Basic x'],
    ['Proxy-Connection', 'close'],
    ['TE', 'trailers'],
    ['Trailer', 'x'],
    ['Transfer-Encoding', 'chunked'],
    ['Upgrade', 'websocket'],
    ['HTTP2-Settings', 'x'],
    ['Content-Length', '5'],
    ['Expect', '100-continue'],
    ['Service-Auth-User-Id', 'root'],
    ['SERVICE-MTLS-SUBJECT-CN', 'root'],
    ['Transfer_Encoding', 'chunked'],
    ['Content_Length', '5'],
    ['transfer.encoding', 'chunked'],
    ['Keep_Alive', 'timeout=5'],
    ['Proxy_Authorization', 'Basic x'],
    ['X_Forwarded_For', '10.0.0.1'],
    ['X_Forwarded-Host', 'b.test'],
    ['Service_Auth_User_Id', 'root'],
  ])('never include %s', (name, value) => {
    expect(onward([name, value])).toEqual(['host', 'shop.test', ...FORWARDED]);
  });

  it('drop what Connection names, but nothing that the message needs', () => {
    const headers = ['Connection', 'close, X-Hop, host, content-length', 'X-HOP', '1', 'X-End', '2'];
    expect(onward(headers)).toEqual(['host', 'shop.test', 'X-End', '2', ...FORWARDED]);
  });

  it('append to the earlier hops of the client, and keep its host', () => {
    const headers = [
      'X-Forwarded-For',
      '198.51.100.1',
      'x-forwarded-for',
      '198.51.100.2',
      'X-Forwarded-Proto',
      'http',
    ];
    const got = onward([...headers, 'X-Forwarded-Host', 'first.test', 'X-Forwarded-Host', 'second.test']);
    expect(got.slice(2)).toEqual([
      'x-forwarded-for',
      '198.51.100.1, 198.51.100.2, 192.0.2.7',
      'x-forwarded-proto',
      'http, https',
      'x-forwarded-host',
      'first.test',
    ]);
  });

  it('take time linear in the number of lines with one name', () => {
    const lines = (count: number) =>
      Array.from({ length: count }, () => ['x-forwarded-for', '192.0.2.1']).flat();
    const timeMs = (headers: readonly string[]) => cpuMs(() => onward(headers));
    const [few, many] = [lines(5_000), lines(50_000)];
    timeMs(few);
    // Ten times the lines: quadratic work would take a hundred times as long.
    expect(timeMs(many)).toBeLessThan(40 * Math.max(timeMs(few), 0.5));
  });
});

describe('the fields of a response for a client', () => {
  it('drop hop-by-hop fields and the error field of the edge, and keep the rest unchanged', () => {
    const headers = [
      'Content-Length',
      '5',
      'Connection',
      'x-hop',
      'X-Hop',
      '1',
      'Service-Error-Code',
      'ERR',
      'Server',
      'a',
    ];
    expect(forwardedResponse(headers, 'service-error-code')).toEqual(['Content-Length', '5', 'Server', 'a']);
    const plain = ['Server', 'a'];
    expect(forwardedResponse(plain, 'service-error-code')).toBe(plain);
  });
});

describe('an upgrade', () => {
  it.each([
    [['Upgrade', 'WebSocket', 'Connection', 'keep-alive, Upgrade'], 'websocket'],
    [['Upgrade', 'websocket'], null],
    [['Upgrade', 'websocket', 'Connection', 'close'], null],
    [['Connection', 'upgrade'], null],
  ])('%j asks for %s', (headers, protocol) => {
    expect(upgradeOf(headers)).toBe(protocol);
  });
});
