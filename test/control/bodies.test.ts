import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Instance, startInstance } from './instance.ts';

let instance: Instance;
beforeAll(async () => {
  instance = await startInstance();
});
afterAll(() => instance.close());

const json = { 'content-type': 'application/json' };
const send = (method: string, path: string, body: string) => instance.call(method, path, body, json);

describe('a body', () => {
  it.each([
    ['{"__proto__": {"isAdmin": true}}', '/__proto__'],
    ['{"metadata": "x", "__proto__": null}', '/__proto__'],
    ['{"backends": {"__proto__": 5}}', '/backends/__proto__'],
    ['{"a": [{"b": {"__proto__": []}}]}', '/a/0/b/__proto__'],
    ['{"\\u005f_proto__": 1}', '/__proto__'],
  ])('with a key that names a prototype is refused: %s', async (body, pointer) => {
    for (const [method, path] of [
      ['POST', '/backends/weighted'],
      ['PUT', '/edge_file'],
    ] as const) {
      const answer = await send(method, path, body);
      expect([answer.status, answer.body.error_code, answer.body.details.pointer]).toEqual([
        400,
        'ERR_SERVICE_214',
        pointer,
      ]);
    }
  });

  it.each(['constructor', 'toString', 'hasOwnProperty', 'valueOf'])(
    'with the unknown key %s below a module has the number of an unknown field',
    async (key) => {
      const edge = await instance.make('/edges/https', {});
      const route = { match_type: 'path_prefix', match: '/', circuit_breaker: { [key]: 1 } };
      const { status, body } = await instance.call('POST', `/edges/https/${edge.id}/routes`, route);
      expect([status, body.error_code]).toEqual([400, 'ERR_SERVICE_214']);
    },
  );

  it.each([
    ['lists', '['.repeat(3_000) + ']'.repeat(3_000)],
    ['objects', `${'{"a":'.repeat(3_000)}1${'}'.repeat(3_000)}`],
    ['many lists', '['.repeat(200_000) + ']'.repeat(200_000)],
    ['lists within a field', `{"metadata":${'['.repeat(3_000)}${']'.repeat(3_000)}}`],
  ])('with deeply nested %s is refused with a code and a message', async (_, deep) => {
    for (const [method, path] of [
      ['POST', '/vaults'],
      ['PATCH', '/vaults/vault_1'],
      ['PUT', '/edge_file'],
    ] as const) {
      const { status, body } = await send(method, path, deep);
      expect([path, status, body.error_code]).toEqual([path, 400, 'ERR_SERVICE_213']);
      expect(body.msg).toBe('The body is nested deeper than 100 levels.');
    }
  });

  it('with a deeply nested policy text gets a finding', async () => {
    const edge = await instance.make('/edges/https', {});
    const value = `{"on_http_request":${'['.repeat(3_000)}${']'.repeat(3_000)}}`;
    const route = { match_type: 'path_prefix', match: '/', traffic_policy: { enabled: true, value } };
    const { status, body } = await instance.call('POST', `/edges/https/${edge.id}/routes`, route);
    expect(status).toBe(400);
    expect(body.msg).not.toMatch(/bug/);
    expect(body.error_code).toMatch(/^ERR_SERVICE_\d+$/);
  });

  it.each<[string, object, object]>([
    ['/reserved_domains', { domain: '', region: '' }, { domain: expect.stringMatching(/./), region: null }],
    ['/reserved_addrs', { region: '', description: '' }, { region: 'us' }],
    ['/api_keys', { owner_id: '' }, { owner_id: expect.stringMatching(/^usr_/) }],
    ['/credentials', { owner_id: '' }, { owner_id: expect.stringMatching(/^usr_/) }],
    [
      '/event_destinations',
      { format: '', target: { debug: { log: false, callback_url: 'https://192.0.2.1' } } },
      { format: 'json' },
    ],
    [
      '/ssh_certificate_authorities',
      { private_key_type: '', elliptic_curve: '', key_size: 0 },
      { key_type: 'ed25519' },
    ],
  ])('to %s may have empty texts for what is not set: %j', async (path, body, shown) => {
    const { status, body: made } = await instance.call('POST', path, body);
    expect([status, made]).toEqual([201, expect.objectContaining(shown)]);
  });

  it.each([
    ['POST', '/vaults'],
    ['PATCH', '/vaults/vault_1'],
    ['PUT', '/edges/https/edghts_1/mutual_tls'],
    ['PUT', '/edge_file'],
  ])('may be omitted for %s %s regardless of its type', async (method, path) => {
    const typed = await instance.call(method, path, undefined, json);
    const untyped = await instance.call(method, path);
    for (const { status, body } of [typed, untyped]) {
      expect([status, body.error_code]).toEqual([400, 'ERR_SERVICE_213']);
      expect(body.msg).toMatch(/send a JSON object/);
    }
  });

  it.each([
    ['{', /Expected property name or '}' in JSON at position 1 \(line 1 column 2\)\.$/],
    ['{"name": "a"\n"b": 1}', /at position 13 \(line 2 column 1\)\.$/],
    ['{"name": hunter2}', /: Unexpected token in JSON at position 9 \(line 1 column 10\)\.$/],
    ['{"a": [1, "b, ]", {}],\n "c": }', /at position 29 \(line 2 column 7\)\.$/],
    ['[[], [1,]]', /at position 8 \(line 1 column 9\)\.$/],
    ['\r\n[\n\n', /Unexpected end of JSON input\.$/],
    ['NaN', /at position 0 \(line 1 column 1\)\.$/],
    ['"hunter2', /Unterminated string in JSON at position 8/],
  ])('that is not JSON is refused with its place, without its content: %j', async (body, message) => {
    const answer = await instance.call('POST', '/vaults', body);
    expect([answer.status, answer.body.error_code]).toEqual([400, 'ERR_SERVICE_213']);
    expect(answer.body.msg).toMatch(message);
    expect(answer.body.msg).not.toMatch(/hunter|NaN|'h'/);
  });

  it('that is not JSON after 100,000 tokens is refused without its place, which would take too long', async () => {
    const answer = await instance.call('POST', '/vaults', `[${'1,'.repeat(100_000)}x]`);
    expect(answer.body.msg).toBe('The body is not valid JSON: Unexpected token in JSON.');
  });

  it('that is compressed is refused as such', async () => {
    for (const coding of ['gzip', 'br', 'identity, gzip']) {
      const { status, body } = await instance.call('POST', '/vaults', '{}', { 'content-encoding': coding });
      expect([status, body.error_code, body.msg]).toEqual([
        415,
        'ERR_SERVICE_210',
        `The Content-Encoding '${coding}' is not supported; send plain JSON.`,
      ]);
    }
  });

  it('with a header twice, in other cases, is refused: one of them would be lost', async () => {
    const body = { headers: { 'X-Shop': '1', 'x-shop': '2' } };
    const answer = await instance.call('POST', '/backends/http_response', body);
    expect([answer.status, answer.body.details.pointer]).toEqual([400, '/headers/x-shop']);
    expect(answer.body.msg).toMatch(/is set twice/);
  });

  it('that is chunked and empty is reported as empty', async () => {
    const response = await fetch(`${instance.url}/vaults`, {
      method: 'POST',
      headers: { ...json, authorization: `Bearer ${instance.key}`, 'service-version': '2' },
      body: new ReadableStream({ start: (controller) => controller.close() }),
      duplex: 'half',
    } as RequestInit);
    const body = (await response.json()) as { error_code: string };
    expect([response.status, body.error_code]).toEqual([400, 'ERR_SERVICE_213']);
  });

  it('has at most 10,000 values, except for an edge file', async () => {
    const hostports = Array.from({ length: 10_000 }, (_, number) => `h${number}.test:443`);
    const refused = await instance.call('POST', '/edges/https', { hostports });
    expect([refused.status, refused.body.error_code]).toEqual([413, 'ERR_SERVICE_812']);
    expect(refused.body.msg).toBe('The body has more than 10000 values.');
    const made = await instance.make('/edges/https', { hostports: hostports.slice(1) });
    expect(made.hostports).toHaveLength(9_999);
    const file = { edges: { https: { many: { hostports } } } };
    expect((await instance.call('PUT', '/edge_file?dry_run=true', file)).status).toBe(200);
  });

  it('has policies of at most 1 MiB, in YAML of 256 KiB', async () => {
    const [inJson, inYaml] = ['{"on_http_request": []}', 'on_http_request: []\n'];
    const edge = await instance.make('/edges/https', {});
    const put = async (value: string) => {
      const route = { match_type: 'exact_path', match: `/${value.length}`, traffic_policy: { value } };
      const { status, body } = await instance.call('POST', `/edges/https/${edge.id}/routes`, route);
      return [status, body.details?.pointer];
    };
    expect(await put(inJson.padEnd(1024 * 1024))).toEqual([201, undefined]);
    expect(await put(inJson.padEnd(1024 * 1024 + 1))).toEqual([400, '/traffic_policy/value']);
    const withComment = '{"on_http_request": [] # none\n}';
    expect(await put(withComment.padEnd(256 * 1024 + 1))).toEqual([400, '/traffic_policy/value']);
    expect(await put(inYaml.padEnd(256 * 1024, '\n'))).toEqual([201, undefined]);
    expect(await put(inYaml.padEnd(256 * 1024 + 1, '\n'))).toEqual([400, '/traffic_policy/value']);
    const endpoint = {
      url: 'https://large.test',
      type: 'cloud',
      traffic_policy: inJson.padEnd(1024 * 1024 + 1),
    };
    expect((await instance.call('POST', '/endpoints', endpoint)).body.details.pointer).toBe(
      '/traffic_policy',
    );
  });
});

it('flags of the edge file are true or false: anything else applies nothing', async () => {
  const file = { backends: { b: { http_response: {} } }, edges: {} };
  for (const [method, flag, body] of [
    ['PUT', 'dry_run=1', file],
    ['PUT', 'dry_run=True', file],
    ['GET', 'secrets=yes', undefined],
  ] as const) {
    const answer = await instance.call(method, `/edge_file?${flag}`, body);
    expect([answer.status, answer.body.details.parameter]).toEqual([400, flag.replace(/=.*/, '')]);
  }
  expect((await instance.call('GET', '/backends/http_response')).body.backends).toEqual([]);
});

it.each(['1.2.3.4', '1.2.3.4:443'])('the address %s cannot be reserved as a domain', async (domain) => {
  const { status, body } = await instance.call('POST', '/reserved_domains', { domain });
  expect([status, body.details.pointer]).toEqual([400, '/domain']);
});
