import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { WebhookRequest } from '../../src/webhooks/reading.ts';
import { signWebhook } from '../../src/webhooks/sign.ts';
import { findProvider } from '../../src/webhooks/table.ts';
import { verifyWebhook } from '../../src/webhooks/verify.ts';
import { firstValue } from '../../src/http/fields.ts';
import { requestOf, withHeader } from './requests.ts';

const SECRET = 'a secret';
const NOW = Date.UTC(2027, 5, 1);

const verify = (id: string, request: WebhookRequest, nowMs = NOW) =>
  verifyWebhook(findProvider(id)!, SECRET, request, nowMs);

function signed(id: string, body: string): WebhookRequest {
  const made = signWebhook(findProvider(id)!, SECRET, requestOf({ body }), NOW);
  if ('problem' in made) throw new Error(made.problem);
  return made.request;
}

const hmac = (text: string, encoding: 'hex' | 'base64') =>
  createHmac('sha256', SECRET).update(text).digest(encoding);

const asked = (query: string) =>
  verify('twitter', requestOf({ method: 'GET', url: `https://a.test/hook?${query}` }));

describe('twitter', () => {
  test('gets its token signed', () => {
    const outcome = asked('crc_token=MTIzNDU2Nzg5&nonce=abc');
    expect(outcome).toMatchObject({ outcome: 'challenge', response: { status: 200 } });
    const response = outcome.outcome === 'challenge' ? outcome.response : null;
    expect(JSON.parse(response!.body)).toEqual({
      response_token: `sha256=${hmac('MTIzNDU2Nzg5', 'base64')}`,
    });
    expect(firstValue(response!.headers, 'content-type')).toBe('application/json');
  });

  test.each([
    ['a JSON body', 'crc_token=%7B%22for_user_id%22%3A%221%22%7D'],
    ['a JSON list', 'crc_token=%5B%5D'],
    ['a form', 'crc_token=a%26b%3Dc'],
    ['blanks', 'crc_token=a+b'],
    ['nothing', 'crc_token='],
    ['two tokens', 'crc_token=a&crc_token=b'],
    ['a broken encoding', 'crc_token=%zz'],
    ['too much', `crc_token=${'a'.repeat(513)}`],
  ])('does not get %s signed', (_what, query) => {
    expect(asked(query)).toMatchObject({ outcome: 'refused', reason: 'signature_missing' });
  });

  test('validates only by GET', () => {
    const posted = requestOf({ url: 'https://a.test/hook?crc_token=abc' });
    expect(verify('twitter', posted)).toMatchObject({ outcome: 'refused' });
  });
});

test('dropbox gets its challenge back, as plain text', () => {
  const outcome = verify('dropbox', requestOf({ method: 'GET', url: 'https://a.test/?challenge=abc123' }));
  expect(outcome).toMatchObject({ outcome: 'challenge', response: { status: 200, body: 'abc123' } });
  const headers = outcome.outcome === 'challenge' ? outcome.response.headers : [];
  expect(firstValue(headers, 'x-content-type-options')).toBe('nosniff');
  const script = requestOf({ method: 'GET', url: 'https://a.test/?challenge=%3Cscript%3E' });
  expect(verify('dropbox', script)).toMatchObject({ outcome: 'refused' });
});

test('worldline gets the value of its header back', () => {
  const name = 'X-GCS-Webhooks-Endpoint-Verification';
  const request = requestOf({ method: 'GET', headers: { [name]: 'f1e2-d3c4' } });
  expect(verify('worldline', request)).toMatchObject({ response: { status: 200, body: 'f1e2-d3c4' } });
  expect(verify('worldline', withHeader(request, name, 'a b<'))).toMatchObject({ outcome: 'refused' });
  expect(verify('worldline', { ...request, method: 'POST' })).toMatchObject({ outcome: 'refused' });
});

describe('xero', () => {
  const intent = '{"events":[],"firstEventSequence": 0,"lastEventSequence": 0, "entropy": "S0m3r4nd0mt3xt"}';

  test('gets different responses to valid and invalid signatures', () => {
    const right = signed('xero', intent);
    expect(verify('xero', right)).toMatchObject({
      outcome: 'challenge',
      response: { status: 200, body: '' },
    });
    const wrong = withHeader(right, 'x-xero-signature', hmac('other', 'base64'));
    expect(verify('xero', wrong)).toMatchObject({
      outcome: 'challenge',
      response: { status: 401, body: '' },
    });
    expect(verify('xero', withHeader(right, 'x-xero-signature', null))).toMatchObject({
      response: { status: 401 },
    });
  });

  test('sends events to the upstream', () => {
    const events = signed('xero', intent.replace('[]', '[{"resourceId":"1"}]'));
    expect(verify('xero', events)).toMatchObject({ outcome: 'verified' });
    expect(verify('xero', { ...events, body: Buffer.from(`${intent}x`) })).toMatchObject({
      outcome: 'refused',
    });
  });
});

describe('zoom', () => {
  const validation =
    '{"event":"endpoint.url_validation","payload":{"plainToken":"qgg8vlvZRS6UYooatFL8Aw"},"event_ts":1}';

  test('gets its token signed if the request is signed', () => {
    const request = signed('zoom', validation);
    const outcome = verify('zoom', request);
    expect(outcome).toMatchObject({ outcome: 'challenge', response: { status: 200 } });
    const body = outcome.outcome === 'challenge' ? outcome.response.body : '{}';
    const plainToken = 'qgg8vlvZRS6UYooatFL8Aw';
    expect(JSON.parse(body)).toEqual({ plainToken, encryptedToken: hmac(plainToken, 'hex') });
    expect(verify('zoom', withHeader(request, 'x-zm-signature', 'v0=00'))).toMatchObject({
      outcome: 'refused',
    });
    expect(verify('zoom', request, NOW + 400_000)).toMatchObject({
      outcome: 'refused',
      reason: 'timestamp_stale',
    });
  });

  test('sends other events to the upstream', () => {
    expect(verify('zoom', signed('zoom', '{"event":"meeting.started"}'))).toMatchObject({
      outcome: 'verified',
    });
    const odd = validation.replace('"qgg8vlvZRS6UYooatFL8Aw"', '{"a":1}');
    expect(verify('zoom', signed('zoom', odd))).toMatchObject({ outcome: 'verified' });
  });
});

test('facebook and similar providers validate with a token unknown to the edge, and are refused', () => {
  const url = 'https://a.test/?hub.mode=subscribe&hub.verify_token=t&hub.challenge=1158201444';
  expect(verify('whatsapp', requestOf({ method: 'GET', url }))).toMatchObject({
    reason: 'signature_missing',
  });
});
