import { expect, test } from 'vitest';
import type { Detail, ExchangeDetail } from '../../src/inspector/wire_detail.ts';
import type { CopyAnswer, ExchangeRow, Kept, Row, SearchAnswer } from '../../src/inspector/wire.ts';
import { application, edgeTo, inspected } from './inspected.ts';

const JSON_TYPE = ['host', 'app.test', 'content-type', 'application/json'];

test('a request is in the feed when it ends, and its detail has what each side saw', async () => {
  const { address } = await application((_, body) => ({
    status: 201,
    headers: { 'content-type': 'application/json', 'x-own': 'yes' },
    body: `{"echo":${body}}`,
  }));
  const { send, feed, ok } = await inspected(edgeTo(address));
  const reader = await feed();
  const sent = await send('/orders?page=2', { method: 'POST', headers: [...JSON_TYPE], body: '{"a":1}' });
  expect(sent.status).toBe(201);
  await reader.until(({ rows }) => rows.some(({ state }) => state === 'done'));
  const row = reader.rows.find(({ state }) => state === 'done') as ExchangeRow;
  expect(row).toMatchObject({
    kind: 'exchange',
    protocol: 'http/1.1',
    method: 'POST',
    scheme: 'http',
    host: 'app.test',
    target: '/orders?page=2',
    status: 201,
    verdict: 'pass',
    backend: 'app',
    clientIp: '127.0.0.1',
    requestBytes: 7,
    responseBytes: 16,
    mediaType: 'application/json',
    revision: 1,
    pinned: false,
    resentFrom: null,
  });
  expect(row.eventId).toMatch(/^ev_/);
  const detail = await ok<ExchangeDetail>('GET', `/api/exchanges/${row.seq}`);
  const { exchange, timing, explanation, event, connection } = detail;
  expect(exchange.request.body).toEqual({ bytes: 7, text: '{"a":1}' });
  expect(detail.responseBody).toEqual({ bytes: 16, text: '{"echo":{"a":1}}' });
  expect(exchange.forwards).toMatchObject([{ backend: 'app', address, target: '/orders?page=2' }]);
  expect(exchange.forwards[0]!.headers).toContain('x-forwarded-for');
  expect(explanation!.steps[explanation!.decidedBy]!.code).toBe(row.code);
  expect(explanation!.text).toContain('POST http://app.test/orders?page=2');
  expect(event!.event_id).toBe(row.eventId);
  expect(connection).toMatchObject({ clientIp: '127.0.0.1', tls: null });
  expect(timing.forwardedAfter!).toBeLessThanOrEqual(timing.answeredAfter!);
  expect(timing.answeredAfter!).toBeLessThanOrEqual(timing.endedAfter!);
  expect(timing.forwards).toHaveLength(1);
});

test('secrets are redacted in rows, details, copies and searches, as in recordings', async () => {
  const { address } = await application(() => ({
    headers: { 'set-cookie': 'sid=s3cr3t-session' },
    body: '{"token":"t0k3n"}',
  }));
  const { send, ok, feed } = await inspected(edgeTo(address), { redact: ['x-mine'] });
  const reader = await feed();
  await send('/login?access_token=q-s3cret&x-mine=m1ne-too&page=1', {
    headers: ['host', 'app.test', 'authorization', 'Bearer b3arer-secret', 'x-mine', 'm1ne'],
  });
  await reader.until(({ rows }) => rows.some(({ state }) => state === 'done'));
  const { seq } = reader.rows[0]!;
  const texts = [JSON.stringify(reader.events)];
  texts.push(JSON.stringify(await ok('GET', `/api/exchanges/${seq}`)));
  for (const as of ['curl', 'har', 'case'])
    texts.push(JSON.stringify(await ok('GET', `/api/exchanges/${seq}/copy?as=${as}`)));
  const secrets = ['s3cr3t-session', 't0k3n', 'q-s3cret', 'm1ne', 'b3arer-secret'];
  for (const text of texts) {
    for (const secret of secrets) expect(text).not.toContain(secret);
    expect(text).toContain('page=1');
  }
  for (const secret of secrets) {
    const found = await ok<SearchAnswer>('POST', '/api/search', { text: secret });
    expect(found.rows).toEqual([]);
  }
});

test('a secret of the configuration is redacted wherever a client repeats it, in the feed and in answers', async () => {
  const secret = 'secret-of-the-edge-file';
  const { address } = await application(() => ({ body: 'ok' }));
  const webhook = { webhook_verification: { provider: 'GITHUB', secret } };
  const { send, ok, feed } = await inspected(edgeTo(address, webhook));
  const reader = await feed();
  await send(`/seen/${secret}?page=1`, { headers: ['host', 'app.test', 'user-agent', `agent of ${secret}`] });
  await reader.until(({ rows }) => rows.some(({ state }) => state === 'done'));
  const { seq } = reader.rows[0]!;
  for (const answer of [
    reader.events,
    await ok('GET', `/api/exchanges/${seq}`),
    await ok('GET', '/api/overview'),
  ])
    expect(JSON.stringify(answer)).not.toContain(secret);
  expect(JSON.stringify(reader.events)).toContain('page=1');
});

test('a refusal has the filter and the rule that decided', async () => {
  const config = edgeTo(
    '127.0.0.1:1',
    { ip_restriction: { ip_policy_ids: ['office'] } },
    { ip_policies: { office: { rules: [{ cidr: '192.0.2.0/24', action: 'allow' }] } } },
  );
  const { send, ok } = await inspected(config);
  expect((await send('/')).status).toBe(403);
  const { rows } = await ok<SearchAnswer>('POST', '/api/search', {});
  expect(rows[0]).toMatchObject({ status: 403, verdict: 'stop', by: 'ip_restriction', backend: null });
  const { explanation } = await ok<Detail>('GET', `/api/exchanges/${rows[0]!.seq}`);
  expect(explanation!.steps[explanation!.decidedBy]).toMatchObject({
    verdict: 'stop',
    module: 'ip_restriction',
  });
});

test('search finds text in headers and bodies, expressions read the whole event, and pages go back', async () => {
  const { address } = await application(({ url }) => ({
    status: url === '/bad' ? 500 : 200,
    body: `body of ${url}`,
  }));
  const { send, ok } = await inspected(edgeTo(address));
  for (const path of ['/one', '/bad', '/three', '/four']) await send(path);
  const found = async (query: object): Promise<string[]> => {
    const { rows } = await ok<SearchAnswer>('POST', '/api/search', query);
    return rows.map((row) => ('target' in row ? row.target : ''));
  };
  expect(await found({ text: 'BODY OF /one' })).toEqual(['/one']);
  expect(await found({ expression: 'ev.http.response.status_code >= 500' })).toEqual(['/bad']);
  expect(
    await found({
      expression:
        "ev.http.request.headers['HOST'][0] == 'app.test' && ev.http.request.url.path.startsWith('/t')",
    }),
  ).toEqual(['/three']);
  const first = await ok<SearchAnswer>('POST', '/api/search', { limit: 2 });
  expect(first).toMatchObject({ more: true });
  const { seq } = first.rows.at(-1)!;
  expect(await found({ before: seq })).toEqual(['/bad', '/one']);
  const wrong = await ok<SearchAnswer>('POST', '/api/search', { expression: 'ev.http.nothing == 1' });
  expect(wrong.rows).toEqual([]);
  expect(wrong.diagnostics[0]).toMatchObject({ severity: 'error', range: { start: { line: 1 } } });
});

test('a pinned row stays when others are cleared, and what was dropped is counted', async () => {
  const { address } = await application(() => ({ body: 'x'.repeat(20_000) }));
  const { send, ok, feed } = await inspected(edgeTo(address), { limits: { limitBytes: 200_000 } });
  await send('/kept');
  const { rows } = await ok<SearchAnswer>('POST', '/api/search', {});
  expect(await ok<Row>('POST', `/api/exchanges/${rows[0]!.seq}/pin`, { pinned: true })).toMatchObject({
    pinned: true,
  });
  const reader = await feed();
  for (let at = 0; at < 20; at++) await send(`/${at}`);
  const hello = await ok<{ kept: Kept }>('GET', '/api/hello');
  expect(hello.kept.bytes).toBeLessThanOrEqual(200_000);
  expect(hello.kept.dropped).toBeGreaterThan(5);
  const kept = await ok<Kept>('POST', '/api/clear', {});
  expect(kept).toMatchObject({ rows: 1, pinned: [rows[0]!.seq] });
  await reader.until(({ events }) => events.some(({ type }) => type === 'cleared'));
  const all = await ok<SearchAnswer>('POST', '/api/search', {});
  expect(all.rows).toMatchObject([{ target: '/kept', pinned: true }]);
});

test('a copy is a curl command, an archive or a case of a scenario', async () => {
  const { address } = await application(() => ({ body: 'ok' }));
  const { send, ok } = await inspected(edgeTo(address), { files: { names: () => ['some/edge.yaml'] } });
  await send("/it's?a=1", { method: 'POST', headers: [...JSON_TYPE, 'x-note', "it's"], body: '{"a":"\'"}' });
  const { rows } = await ok<SearchAnswer>('POST', '/api/search', {});
  const copy = (as: string) => ok<CopyAnswer>('GET', `/api/exchanges/${rows[0]!.seq}/copy?as=${as}`);
  const curl = await copy('curl');
  expect(curl.text).toContain("curl -X POST 'http://app.test/it'\\''s?a=1'");
  expect(curl.text).toContain("--data-binary '{\"a\":\"'\\''\"}'");
  const har = JSON.parse((await copy('har')).text) as { log: { entries: { request: { url: string } }[] } };
  expect(har.log.entries[0]!.request.url).toBe("http://app.test/it's?a=1");
  const scenario = await copy('case');
  expect(scenario.text).toContain('edge: "./edge.yaml"');
  expect(scenario.text).toContain('status: 200');
});

test.each(['app.test.localhost:8080', 'localhost:8080'])(
  'a case of a request for %s has the host of the edge',
  async (host) => {
    const { address } = await application(() => ({ body: 'ok' }));
    const { send, ok } = await inspected(edgeTo(address), {}, { adoptHosts: 'loopback' });
    expect((await send('/a', { headers: ['host', host] })).status).toBe(200);
    const { rows } = await ok<SearchAnswer>('POST', '/api/search', {});
    const { text } = await ok<CopyAnswer>('GET', `/api/exchanges/${rows[0]!.seq}/copy?as=case`);
    expect(text).toContain('url: "http://app.test/a"');
  },
);
