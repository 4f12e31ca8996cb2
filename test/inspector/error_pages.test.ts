import { expect, test } from 'vitest';
import type { ExchangeDetail } from '../../src/inspector/wire_detail.ts';
import { edgeTo, inspected } from './inspected.ts';

const REFUSING = edgeTo(
  '127.0.0.1:1',
  { ip_restriction: { ip_policy_ids: ['office'] } },
  { ip_policies: { office: { rules: [{ cidr: '192.0.2.0/24', action: 'allow' }] } } },
);
const BROWSER = ['host', 'app.test', 'accept', 'text/html,application/xhtml+xml;q=0.9'];

test('a browser gets a page with the filter that decided and a link to the exchange', async () => {
  const { send, ok, port } = await inspected(REFUSING, { errorPages: true });
  const { status, text, headers } = await send('/<script>alert(1)</script>', { headers: BROWSER });
  expect(status).toBe(403);
  expect(text).toContain('<dd>ip_restriction</dd>');
  expect(text).not.toContain('<script>');
  expect(headers['edgeproof-reason']).toMatch(/^ip_restriction ip_/);
  const link = headers['edgeproof-inspector'];
  expect(link).toMatch(new RegExp(`^http://127\\.0\\.0\\.1:${port}/#exchange=\\d+$`));
  expect(text).toContain(`<a href="${String(link)}">`);
  const seq = String(link).split('=')[1]!;
  const { exchange, row } = await ok<ExchangeDetail>('GET', `/api/exchanges/${seq}`);
  // The record is what was sent.
  expect(exchange.response!.body.text).toBe(text);
  expect(row.responseBytes).toBe(Buffer.byteLength(text));
});

test('other clients get the body of production, with the reason and the address of the upstream as a field', async () => {
  const own = await inspected(edgeTo('127.0.0.1:1'), { errorPages: true });
  const production = await inspected(edgeTo('127.0.0.1:1'));
  const here = await own.send('/');
  const there = await production.send('/');
  expect(here.status).toBe(502);
  expect(here.text).toBe(there.text);
  expect(here.headers['edgeproof-reason']).toContain('upstream.connect');
  expect(here.headers['edgeproof-reason']).toContain('address=127.0.0.1:1');
  expect(there.headers['edgeproof-reason']).toBeUndefined();
  expect((await own.send('/', { headers: ['host', 'nothing.test'] })).headers['edgeproof-reason']).toContain(
    'route.unknown_host',
  );
});

test('an answer that the configuration has stays as it is', async () => {
  const value = JSON.stringify({
    on_http_request: [
      { actions: [{ type: 'custom-response', config: { status_code: 403, content: '<p>own</p>' } }] },
    ],
  });
  const { send } = await inspected(edgeTo('127.0.0.1:1', { traffic_policy: { value } }), {
    errorPages: true,
  });
  const { text, headers } = await send('/', { headers: BROWSER });
  expect(text).toBe('<p>own</p>');
  expect(headers['edgeproof-reason']).toBeUndefined();
});

test('the empty answer of deny is a page for browsers, and stays empty for other clients', async () => {
  const value = JSON.stringify({ on_http_request: [{ actions: [{ type: 'deny' }] }] });
  const { send } = await inspected(edgeTo('127.0.0.1:1', { traffic_policy: { value } }), {
    errorPages: true,
  });
  const { status, text, headers } = await send('/', { headers: BROWSER });
  expect(status).toBe(403);
  expect(headers['content-type']).toBe('text/html; charset=utf-8');
  expect(text).toContain('<dd>traffic_policy.denied</dd>');
  expect(text).toContain(`<a href="${String(headers['edgeproof-inspector'])}">`);
  const other = await send('/');
  expect([other.status, other.text]).toEqual([403, '']);
  expect(other.headers['edgeproof-reason']).toMatch(/^traffic_policy traffic_policy\.denied /);
});
