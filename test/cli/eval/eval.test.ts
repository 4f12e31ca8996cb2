import { describe, expect, test } from 'vitest';
import { isCidrProblem, parseCidr } from '../../../src/net/cidr.ts';
import { folderWith } from '../../folder.ts';
import { writeMmdb } from '../../policy/env/mmdb_writer.ts';
import { valueText } from '../../../src/cel/value_text.ts';
import type { Value } from '../../../src/cel/index.ts';
import { evaluate as inProcess } from '../../policy/env/exchange.ts';
import { run } from './run.ts';

const SCOPE = `
phase: on_http_response
service: acme
now: 2026-02-03T04:05:06Z
seed: 7
request:
  method: POST
  url: https://shop.example:8443/v1/things?tag=a&tag=b
  headers: { X-Team: [blue, green], User-Agent: curl/8.5.0, Content-Length: '12' }
  trailers: { X-Sum: '1' }
response: { status: 201, headers: { Set-Cookie: 'a=1; Secure' } }
connection:
  client_ip: 203.0.113.7
  bytes_in: 5
  tls: { alpn: h2, client_certificate: { common_name: ada } }
endpoint: { id: ep_7, protocol: https }
vars: { lane: beta, limit: 3 }
actions: { rate_limit: { limited: true, bucket_key: [x], error: { code: E1, message: no } } }
secrets: { demo: { token: s3cret } }
facts:
  - cidr: 203.0.113.0/24
    geo: { location: { country_code: DE } }
  - variables: { conn.server_region: eu }
mmdb: [asn.mmdb]
`;

const folder = folderWith({
  'scope.yaml': SCOPE,
  'bad_keys.yaml': 'request: { methud: GET }\nconnection: { client_port: 70000 }\n',
  'bad_facts.yaml': 'facts:\n  - cidr: 203.0.113.1/24\n',
  'bad_yaml.yaml': 'request: [\n',
  'no.mmdb': 'x',
  'bad_mmdb.yaml': 'mmdb: [no.mmdb]\n',
  'asn.mmdb': asnDatabase(),
});

function asnDatabase(): Uint8Array {
  const range = parseCidr('203.0.112.0/20');
  if (isCidrProblem(range)) throw new Error(range.message);
  return writeMmdb([[range, { autonomous_system_number: 64_500 }]]);
}

const evaluate = (...args: readonly string[]) => run(['eval', ...args], folder);

describe('values', () => {
  test.each([
    ['1 + 1', '2'],
    ["'it' + \"'s\"", "'it\\'s'"],
    ['[1u, 2.0, null, true]', '[1u, 2.0, null, true]'],
    ["{'a': b'\\x00z'}", "{'a': b'\\x00z'}"],
    ["[timestamp('2026-01-01T00:00:00Z')]", "[timestamp('2026-01-01T00:00:00Z')]"],
    ["duration('90s')", "duration('90s')"],
    ['[optional.none(), optional.of(1)]', '[optional.none(), optional.of(1)]'],
    ['type(1)', 'int'],
    ['req.method', "'GET'"],
    ['false', 'false'],
  ])('%s is printed as %s', (expression, printed) => {
    expect(valueText(inProcess(expression))).toBe(printed);
  });

  test('are printed on one line, and the exit code is always 0', async () => {
    expect(await evaluate('1 + 1')).toEqual({ code: 0, stdout: '2\n', stderr: '' });
    expect(await evaluate('false')).toMatchObject({ code: 0, stdout: 'false\n' });
  });

  test('that are long are cut for readers', () => {
    const long = valueText(['x'.repeat(5_000), 'y'] as Value, 100);
    expect(long.length).toBeLessThan(110);
    expect(long.endsWith('…')).toBe(true);
    let shared: Value = ['x'];
    for (let level = 0; level < 60; level++) shared = [shared, shared];
    expect(valueText(shared, 100).length).toBeLessThan(110);
  });

  test('of a request on the command line', async () => {
    const source =
      "req.method + ' ' + req.url.path + ' ' + getReqHeader('x-a').join() + ' ' + conn.client_ip + ' ' + string(req.url.port)";
    const { stdout } = await evaluate(
      source,
      '--request',
      'PUT https://shop.example:8443/a/b?c',
      '-H',
      'X-A: 1',
      '-H',
      'x-a: 2',
      '--ip',
      '2001:db8::1',
    );
    expect(stdout).toBe("'PUT /a/b 12 2001:db8::1 8443'\n");
    expect((await evaluate('req.url', '--request', 'https://shop.example/x')).stdout).toBe(
      "'https://shop.example/x'\n",
    );
  });

  test('of a scope file', async () => {
    const source = [
      "req.method == 'POST'",
      "req.url.query_params['tag'] == ['a', 'b']",
      "req.headers['x-team'] == ['blue', 'green']",
      "req.trailers['x-sum'] == ['1']",
      "req.user_agent.name == 'curl' && req.content_length == 12",
      "res.status_code == 201 && getResCookie('a').secure",
      "conn.client_ip == '203.0.113.7' && conn.bytes_in == 5 && conn.tls.negotiated_alpn == 'h2'",
      "conn.tls.client.subject.common_name == 'ada' && conn.tls.sni == 'shop.example'",
      "endpoint.id == 'ep_7' && endpoint.port == 443",
      "vars.lane == 'beta' && vars.limit == 3",
      "actions.acme.rate_limit.limited && actions.acme.rate_limit.error.code == 'E1'",
      "secrets.get('demo', 'token') == 's3cret'",
      "conn.geo.country_code == 'DE' && conn.server_region == 'eu' && conn.client_ip.as.number == 64500",
      "time.now == '2026-02-03T04:05:06Z' && conn.ts.start == timestamp(time.now)",
    ].join(' && ');
    expect(await evaluate(source, '--scope', 'scope.yaml')).toMatchObject({ code: 0, stdout: 'true\n' });
    const [once, again] = [
      await evaluate('rand.double()', '-s', 'scope.yaml'),
      await evaluate('rand.double()', '-s', 'scope.yaml'),
    ];
    expect(once.stdout).toBe(again.stdout);
  });

  test('of a template are explained with the parts of its expressions', async () => {
    const template = 'a ${req.method} b ${.conn.client_ip} ${conn.client_port > 0 || true}';
    const { code, stdout } = await evaluate('--template', '--explain', template);
    expect(code).toBe(0);
    expect(stdout.split('\n').map((line) => line.replace(/(?<=\S) {2,}/, '  '))).toEqual([
      "a ${req.method} b ${.conn.client_ip} ${conn.client_port > 0…  'a GET b 203.0.113.9 true'",
      "  req.method  'GET'",
      "  conn.client_ip  '203.0.113.9'",
      '  conn.client_port > 0 || true  true',
      '    conn.client_port > 0  false',
      expect.stringMatching(/^ {6}conn\.client_port {2}\d+$/),
      '',
    ]);
    const { steps, text } = JSON.parse(
      (await evaluate('--template', '--explain', '--json', 'a ${req.method}')).stdout,
    ) as { readonly steps: unknown; readonly text: string };
    expect(text).toBe('a GET');
    expect(steps).toEqual([
      { source: 'req.method', start: 4, end: 14, times: 1, value: 'GET', written: "'GET'" },
    ]);
    const failed = await evaluate(
      '--template',
      '--explain',
      "${req.method} ${req.headers['x-none']} ${req.host}",
    );
    expect(failed.code).toBe(4);
    expect(failed.stdout).toContain("req.headers['x-none']");
    expect(failed.stdout).not.toContain('  req.host ');
  });

  test('of a template are its text', async () => {
    const { stdout } = await evaluate(
      '--template',
      'm=${req.method} $${x} ${[1]}',
      '--request',
      'GET https://shop.example/',
    );
    expect(stdout).toBe('m=GET ${x} [1]\n');
    expect((await evaluate('--template', '${1 + 1}')).stdout).toBe('2\n');
  });
});

describe('errors', () => {
  test('in the expression: exit code 3 and a caret', async () => {
    const { code, stdout, stderr } = await evaluate("req.methud == 'GET'");
    expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
    expect(stderr).toBe(
      [
        '<expression>:1:5 error expr.unknown_variable unknown variable `req.methud`',
        "   1 │ req.methud == 'GET'",
        "     │     ^^^^^^ did you mean 'method'?",
        '1 error',
        '',
      ].join('\n'),
    );
    expect(await evaluate('--template', 'a ${nope} b')).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('<template>:1:5') as string,
    });
    expect((await evaluate('res.status_code == 1')).code).toBe(3);
    expect((await evaluate('res.status_code == 200', '--phase', 'on_http_response')).code).toBe(0);
  });

  test('at run time: exit code 4 and a caret', async () => {
    const { code, stdout, stderr } = await evaluate("req.headers['x-none'][0] == 'a'");
    expect({ code, stdout }).toEqual({ code: 4, stdout: '' });
    expect(stderr).toContain('│ ^^^^^^^^^^^^^^^^^^^^^');
    expect((await evaluate('--template', "a ${req.headers['x-none']}")).code).toBe(4);
    expect((await evaluate('--template', "a ${b'\\xff'}")).code).toBe(4);
  });

  test('because of an absent fact: the reason is printed', async () => {
    expect((await evaluate('conn.geo.city')).stderr).toContain('the address has no such fact');
    expect((await evaluate('actions.service.rate_limit.limited')).stderr).toContain(
      'no `rate-limit` has run',
    );
    expect((await evaluate('conn.tls.version', '--request', 'http://a.test/')).stderr).toContain(
      'has no TLS',
    );
  });

  test('in the command line: exit code 2', async () => {
    const wrong = [
      await evaluate('1', '--request', 'GET nowhere'),
      await evaluate('1', '--ip', 'x'),
      await evaluate('1', '-s', 'missing.yaml'),
      await evaluate('1', '-s', 'bad_mmdb.yaml'),
      await evaluate('1', '--request', 'GET https://a.test/%zz'),
    ];
    expect(wrong.map(({ code }) => code)).toEqual([2, 2, 2, 2, 2]);
    expect(wrong.map(({ stderr }) => stderr.split('\n').length)).toEqual([2, 2, 2, 2, 2]);
    expect((await evaluate('1', '--phase', 'on_monday')).code).toBe(2);
    expect((await evaluate('1', '--phase', 'on_monday')).stderr).toContain('on_http_request');
    expect((await evaluate('1', '-H', 'no colon')).stderr).toContain("'name: value'");
  });

  test('in the scope file: exit code 3, with the place', async () => {
    const keys = await evaluate('1', '-s', 'bad_keys.yaml');
    expect(keys.code).toBe(3);
    expect(keys.stderr).toMatch(/^bad_keys\.yaml:1:12 error .*\n.*\n.*did you mean 'method'/m);
    expect(keys.stderr).toMatch(/^bad_keys\.yaml:2:/m);
    expect(await evaluate('1', '-s', 'bad_facts.yaml')).toMatchObject({
      code: 3,
      stderr: expect.stringMatching(/^bad_facts\.yaml:2:\d+ error facts\.invalid/) as string,
    });
    expect((await evaluate('1', '-s', 'bad_yaml.yaml')).code).toBe(3);
  });

  test('warnings do not suppress the value', async () => {
    const { code, stdout, stderr } = await evaluate("inCidrRange(conn.client_ip, '203.0.113.9/24')");
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'true\n' });
    expect(stderr).toContain('warning expr.invalid_cidr');
  });
});

describe('--explain', () => {
  test('prints every sub-expression with its value, and what was skipped', async () => {
    const { code, stdout } = await evaluate(
      "req.method == 'POST' && conn.geo.city == 'x' || true",
      '--explain',
    );
    expect(code).toBe(0);
    expect(stdout).toContain("    req.method == 'POST'");
    expect(stdout).toMatch(/conn\.geo\.city == 'x' +skipped: `&&` was decided: this side is false/);
  });

  test('explains why a fact is absent', async () => {
    const { code, stdout } = await evaluate("conn.geo.city == 'x'", '--explain');
    expect(code).toBe(4);
    expect(stdout).toMatch(
      /conn\.geo\.city +error: `conn\.geo\.city` is absent: the address has no such fact/,
    );
  });
});

const json = async (
  ...args: readonly string[]
): Promise<{ readonly code: number; readonly value: unknown }> => {
  const { code, stdout } = await evaluate('--json', ...args);
  return { code, value: JSON.parse(stdout) };
};

describe('--json', () => {
  test('of values, errors and findings', async () => {
    expect(await json("{'a': 1.0}")).toEqual({
      code: 0,
      value: { type: 'map(string, double)', value: { a: 1 }, written: "{'a': 1.0}" },
    });
    expect(await json('conn.geo.city')).toMatchObject({
      code: 4,
      value: { error: { code: 'expr.absent', start: 0, end: 13 } },
    });
    expect(await json('nope')).toMatchObject({
      code: 3,
      value: { diagnostics: [{ code: 'expr.unknown_variable', range: { start: { line: 1, column: 1 } } }] },
    });
    expect(await json('--template', 'a${1}')).toMatchObject({
      code: 0,
      value: { type: 'string', value: 'a1', text: 'a1' },
    });
    expect(await json("double('NaN')")).toMatchObject({ code: 0, value: { value: null, written: 'NaN' } });
  });

  test('of explanations', async () => {
    const { code, value } = await json("req.method == 'POST' && req.host == 'x'", '--explain');
    expect(code).toBe(0);
    expect(value).toMatchObject({
      type: 'bool',
      value: false,
      steps: [
        { source: "req.method == 'POST' && req.host == 'x'", times: 1, value: false },
        { source: "req.method == 'POST'", value: false },
        { source: 'req.method', value: 'GET' },
        { source: "req.host == 'x'", times: 0, skipped: expect.any(String) as string },
        expect.anything(),
      ],
    });
  });
});
