import { expect, test } from 'vitest';
import { createOidcAnswers } from '../../src/clients/oidc.ts';
import type { SearchAnswer } from '../../src/inspector/wire.ts';
import type { ExchangeDetail } from '../../src/inspector/wire_detail.ts';
import { browserOf } from '../auth/browser.ts';
import { SECRET, evilOp } from '../auth/evil_op.ts';
import { ISSUER } from '../auth/gate_edge.ts';
import { application, edgeTo, inspected } from './inspected.ts';

test('a detail has the identity that a login found, and no secret of its session', async () => {
  const { address } = await application(() => ({ body: 'the app' }));
  const op = evilOp({}, Date.now);
  const oidc = { issuer: ISSUER, client_id: 'edge', client_secret: SECRET };
  const clients = { oidc: createOidcAnswers(op.fetch).ask };
  const { edge, send, ok } = await inspected(edgeTo(address, { oidc }), {}, { clients });
  const browser = browserOf(edge, 'app.test');
  await browser.go(op.approve((await browser.go('http://app.test/')).location!));
  const cookie = await browser.jar.getCookieString('http://app.test/');
  expect((await send('/own', { headers: ['host', 'app.test', 'cookie', cookie] })).text).toBe('the app');
  expect((await send('/other')).status).not.toBe(200);

  const { rows } = await ok<SearchAnswer>('POST', '/api/search', {});
  const detailOf = (target: string) => {
    const { seq } = rows.find((row) => row.kind === 'exchange' && row.target === target)!;
    return ok<ExchangeDetail>('GET', `/api/exchanges/${seq}`);
  };
  const detail = await detailOf('/own');
  const sent = detail.exchange.forwards[0]!.headers;
  const id = sent[sent.findIndex((name) => name.toLowerCase() === 'service-auth-user-id') + 1]!;
  expect(id).not.toBe('');
  expect(detail.identity).toMatchObject({ by: 'oidc', id });
  expect(JSON.stringify(detail)).not.toContain(cookie.split('=')[1]);
  expect((await detailOf('/other')).identity).toBeNull();
});
