import { describe, expect, test } from 'vitest';
import { explainWebhook } from '../../src/webhooks/explain.ts';
import type { WebhookRequest } from '../../src/webhooks/reading.ts';
import { signWebhook } from '../../src/webhooks/sign.ts';
import { findProvider, PROVIDERS } from '../../src/webhooks/table.ts';
import { TEST_CERTIFICATE_URL } from '../../src/webhooks/draft.ts';
import { mediaTypeOf } from '../../src/webhooks/sign.ts';
import { RSA_CERTIFICATE } from './keys.ts';
import { FORM, FORM_BODIES, requestOf, textOf, withHeader } from './requests.ts';
import { secretsFor } from './secrets.ts';

const SECRET = 'whsec_a secret that no log may show';
const NOW = Date.UTC(2027, 5, 1, 12);

function signed(id: string, body: string, secret = SECRET): WebhookRequest {
  const draft = requestOf({ body, headers: { 'Content-Type': id === 'twilio' ? FORM : 'application/json' } });
  const made = signWebhook(findProvider(id)!, secret, draft, NOW);
  if ('problem' in made) throw new Error(made.problem);
  return made.request;
}

const causes = (id: string, request: WebhookRequest, nowMs = NOW, secret = SECRET) =>
  explainWebhook(findProvider(id)!, secret, request, nowMs).causes;

const withBody = (request: WebhookRequest, body: string): WebhookRequest => ({
  ...request,
  body: Buffer.from(body),
});

describe('an explanation', () => {
  test('reports the expected, signed and compared values of a valid request', () => {
    const {
      outcome,
      steps,
      causes: none,
    } = explainWebhook(findProvider('stripe')!, SECRET, signed('stripe', '{"a":1}'), NOW);
    expect(outcome.outcome).toBe('verified');
    expect(none).toEqual([]);
    expect(steps.map(({ title, ok }) => [title, ok])).toEqual([
      ['provider', null],
      ['looked for', true],
      ['timestamp', true],
      ['signed', null],
      ['compared', true],
      ['verdict', true],
    ]);
    expect(steps[3]!.text).toContain('{timestamp}.{body}, 18 bytes: "1811851200.{\\"a\\":1}"');
  });

  test.each(PROVIDERS.map((provider) => [provider.id, provider] as const))(
    'of a request of %s never contains the secret',
    (_id, provider) => {
      for (const scheme of provider.schemes) {
        const secrets = secretsFor(provider, scheme);
        const isForm = mediaTypeOf(provider) === FORM || scheme.signature.some((place) => 'form' in place);
        const headers = { 'Content-Type': isForm ? FORM : 'application/json' };
        const draft = requestOf({ headers, body: isForm ? FORM_BODIES[0]! : '{"a":1}' });
        const made = signWebhook(provider, secrets.signing, draft, NOW, { scheme: scheme.name });
        if ('problem' in made) throw new Error(made.problem);
        const certificates = new Map([[TEST_CERTIFICATE_URL, RSA_CERTIFICATE]]);
        const wrong = scheme.key === 'none' ? undefined : secrets.wrong;
        for (const secret of [secrets.checking, wrong]) {
          const request =
            scheme.algorithm === 'token'
              ? withHeader(made.request, 'Authorization', 'Basic eDp5')
              : made.request;
          const text = JSON.stringify(explainWebhook(provider, secret, request, NOW, certificates));
          const isPublic = scheme.key === 'public_key' || scheme.key === 'none';
          expect(text.includes(secret ?? 'no secret') && !isPublic).toBe(false);
        }
      }
    },
  );

  test('stops at an unusable secret', () => {
    const { steps } = explainWebhook(findProvider('svix')!, 'whsec_?', signed('stripe', '{}'), NOW);
    expect(steps.map(({ title }) => title)).toEqual(['provider', 'secret', 'verdict']);
  });
});

describe('a likely cause', () => {
  test('at the clock', () => {
    const request = signed('stripe', '{}');
    const late = causes('stripe', request, NOW + 11 * 60_000);
    expect(late).toEqual([
      'the timestamp is 11 min old, 6 min more than allowed: a replay, a slow queue, or different clocks',
    ]);
    expect(causes('stripe', request, NOW - 400_000)[0]).toContain('6 min 40 s in the future');
  });

  test.each([
    ['without its trailing newline', '{"a":1}', '{"a":1}\n'],
    ['with a trailing newline', '{"a":1}\n', '{"a":1}'],
    ['with LF for CRLF', '{\n"a":1}', '{\r\n"a":1}'],
    ['serialized as compact JSON', '{"a":1,"b":[1,2]}', '{ "a": 1, "b": [1, 2] }'],
    ['serialized as JSON with an indentation of two', '{\n  "a": 1\n}', '{"a":1}'],
    ['serialized as JSON with a space after each comma and colon', '{"a": 1, "b": 2}', '{"a":1,"b":2}'],
    ['serialized as JSON with escaped non-ASCII characters', '{"a":"\\u00fc"}', '{"a":"ü"}'],
    ['serialized as JSON with escaped slashes', '{"a":"x\\/y"}', '{"a":"x/y"}'],
  ])('of a body that is valid %s', (message, sent, received) => {
    const found = causes('github', withBody(signed('github', sent), received));
    expect(found).toContain(`the body was changed in transit: the signature is valid for it ${message}`);
  });

  test('at a secret', () => {
    const request = signed('github', '{}', 'right');
    expect(causes('github', request, NOW, ' right\n')).toEqual([
      'the signature is valid with the secret without surrounding white space',
    ]);
    expect(causes('github', request, NOW, '"right"')).toEqual([
      'the signature is valid with the secret without surrounding quotes',
    ]);
    expect(causes('github', request, NOW, 'cmlnaHQ=')).toEqual([
      'the signature is valid with the secret decoded from base64',
    ]);
    expect(causes('github', request, NOW, 'another')).toEqual([
      'the secret is not the one that the sender uses, or the body was changed in transit',
    ]);
  });

  test('at a signature of another form', () => {
    const right = signed('shopify', '{}');
    const base64 = right.headers.at(-1)!;
    const hex = withHeader(right, 'X-Shopify-Hmac-Sha256', Buffer.from(base64, 'base64').toString('hex'));
    expect(causes('shopify', hex)).toEqual(['the signature is in hex; this provider sends base64']);
    const bare = withHeader(right, 'X-Hub-Signature-256', Buffer.from(base64, 'base64').toString('hex'));
    expect(causes('github', bare)).toEqual(['the signature is without the prefix of this provider']);
    const sha1 = withHeader(signed('intercom', '{}'), 'x', null);
    const asBitbucket = withHeader(sha1, 'X-Hub-Signature', sha1.headers.at(-1)!.replace('sha1=', 'sha256='));
    expect(causes('bitbucket', asBitbucket)).toEqual([
      'the signature is made with hmac-sha1; this provider uses hmac-sha256',
    ]);
  });

  test('at another URL', () => {
    const request = signed('square', '{}');
    const seen = { ...request, url: request.url.replace('https:', 'http:') };
    expect(causes('square', seen)).toEqual([`the sender signed a different URL: ${request.url}`]);
  });

  test('at another provider', () => {
    expect(causes('stripe', signed('github', '{}'))).toContain(
      'the signature is valid for provider facebook_graph_api or facebook_messenger or github or instagram or whatsapp',
    );
    expect(causes('stripe', signed('slack', '{}', 'other'))).toEqual(['it has a signature header of slack']);
    expect(causes('stripe', requestOf({ body: '{}' }))).toEqual([]);
  });
});

test('a changed body is reported only if it explains the signature', () => {
  const request = signed('github', '{"a":1}');
  expect(causes('github', withBody(request, textOf(request).replace('1', '2')))).toHaveLength(1);
});
