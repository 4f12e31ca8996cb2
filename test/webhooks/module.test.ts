import { describe, expect, test } from 'vitest';
import type { Handler, RequestHead, Verdict } from '../../src/engine/contract.ts';
import type { Answers, Question } from '../../src/engine/questions.ts';
import type { Linked } from '../../src/engine/module.ts';
import { brandingOf } from '../../src/engine/branding.ts';
import { refusal } from '../../src/engine/refusals.ts';
import { readRequestHead } from '../../src/engine/request_head.ts';
import { TEST_CERTIFICATE_URL } from '../../src/webhooks/draft.ts';
import type { WebhookRequest } from '../../src/webhooks/reading.ts';
import { signWebhook } from '../../src/webhooks/sign.ts';
import { findProvider } from '../../src/webhooks/table.ts';
import { webhookVerification } from '../../src/webhooks/module.ts';
import { RSA_CERTIFICATE, RSA_PRIVATE_KEY } from './keys.ts';
import { FORM, requestOf, withHeader } from './requests.ts';

const NOW = Date.UTC(2027, 5, 1, 12);
const branding = brandingOf('service');
const linked: Linked = {
  branding,
  pointer: '/webhook_verification',
  ipPolicy: () => [],
  backend: () => ({ id: 'none', fixed: [], candidates: () => [] }),
  refusal: (status, code, message) => refusal(branding, status, code, message),
};

interface World {
  readonly body?: Answers['body'];
  readonly fetch?: Answers['fetch'];
}

/** A webhook module with its state, and the questions that it has asked. */
function moduleFor(provider: string, secret: string | undefined) {
  const config = { enabled: true, provider, secret };
  const handler = webhookVerification.compile(config, linked) as unknown as Handler<object>;
  const state = handler.initial!(() => 'hook') as object;
  const asked: string[] = [];
  return {
    asked,
    run(request: WebhookRequest, world: World = {}): Verdict {
      let verdict = handler.onRequest!(headOf(request), {} as never, state, {
        nowMs: () => NOW,
        random: () => 0,
      });
      while (verdict.verdict === 'ask') verdict = verdict.resume(answerTo(verdict.question, request, world));
      handler.reduce!(state, { kind: 'decided', verdict }, { nowMs: () => NOW, random: () => 0 });
      return verdict;
    },
  };

  function answerTo(question: Question, request: WebhookRequest, world: World) {
    asked.push(question.ask);
    if (question.ask === 'body') return world.body ?? { bytes: request.body };
    return world.fetch ?? { failure: 'connect', detail: 'no network' };
  }
}

function headOf(request: WebhookRequest): RequestHead {
  const url = new URL(request.url);
  const head = readRequestHead({
    method: request.method,
    target: url.pathname + url.search,
    version: '1.1',
    scheme: 'https',
    headers: ['Host', url.host, ...request.headers],
  });
  if ('refused' in head) throw new Error(head.message);
  return head;
}

const SECRET = 'a secret of the test';

function signed(provider: string, body = '{"a":1}', secret = SECRET): WebhookRequest {
  const headers = { 'Content-Type': provider === 'twilio' ? FORM : 'application/json' };
  const made = signWebhook(findProvider(provider)!, secret, requestOf({ headers, body }), NOW);
  if ('problem' in made) throw new Error(made.problem);
  return made.request;
}

const served: Answers['fetch'] = {
  status: 200,
  headers: [],
  body: Buffer.from(RSA_CERTIFICATE),
  resolvedIp: '192.0.2.1',
  timeMs: 1,
};

interface End {
  readonly reason: string;
  /** Status of the response, null where the request continues. */
  readonly status: number | null;
  readonly provider: string;
  readonly request: () => WebhookRequest;
  readonly world: World;
}

const end = (
  reason: string,
  status: number | null,
  provider: string,
  request: () => WebhookRequest,
  world: World = {},
): End => ({ reason, status, provider, request, world });

/** One request for each way in which a verification ends. */
const ENDS: readonly End[] = [
  end('verified', null, 'GitHub', () => signed('github')),
  end('verified', null, 'twilio', () => signed('twilio', 'b=2&a=1')),
  end('challenge_answered', 200, 'twitter', () =>
    requestOf({ method: 'GET', url: 'https://a.test/?crc_token=abc' }),
  ),
  end('signature_missing', 403, 'github', () => requestOf({})),
  end('signature_duplicated', 403, 'github', () => twice(signed('github'))),
  end('signature_malformed', 403, 'github', () =>
    withHeader(signed('github'), 'X-Hub-Signature-256', 'md5=1'),
  ),
  end('signature_mismatch', 403, 'github', () => signed('github', '{}', 'another')),
  end('timestamp_missing', 403, 'slack', () =>
    withHeader(signed('slack'), 'X-Slack-Request-Timestamp', null),
  ),
  end('timestamp_duplicated', 403, 'stripe', () =>
    changed(signed('stripe'), 'Stripe-Signature', (value) => `t=1,${value}`),
  ),
  end('timestamp_malformed', 403, 'slack', () =>
    withHeader(signed('slack'), 'X-Slack-Request-Timestamp', 'now'),
  ),
  end('timestamp_stale', 403, 'slack', () => at('slack', NOW - 400_000)),
  end('timestamp_future', 403, 'slack', () => at('slack', NOW + 400_000)),
  end('field_missing', 403, 'plivo', () =>
    withHeader(signed('plivo', ''), 'X-Plivo-Signature-V3-Nonce', null),
  ),
  end('field_duplicated', 403, 'svix', () => twice(signed('svix', '{}', 'c2VjcmV0'), 'svix-id')),
  end('field_malformed', 403, 'graphcms', () =>
    changed(signed('graphcms'), 'gcms-signature', (value) => value.replace('env=', 'e=')),
  ),
  end('body_not_signed', 403, 'twilio', () =>
    withHeader(signed('twilio', 'a=1'), 'Content-Type', 'text/plain'),
  ),
  end('body_malformed', 403, 'twilio', () => ({ ...signed('twilio', 'a=1'), body: Buffer.from('a=%') })),
  end('url_malformed', 403, 'plivo', () => ({ ...signed('plivo', ''), url: 'https://a.test/?a=%zz' })),
  end('certificate_refused', 403, 'sns', () =>
    edited(notification(), TEST_CERTIFICATE_URL, 'https://a.test/x.pem'),
  ),
  end('certificate_unavailable', 503, 'sns', () => notification()),
  end('certificate_unusable', 403, 'sns', () => notification(), {
    fetch: { ...served, body: Buffer.from('none') },
  }),
  end('verified', null, 'sns', () => notification(), { fetch: served }),
  end('body_too_large', 413, 'github', () => signed('github'), { body: { failure: 'too_large' } }),
  end('body_unavailable', 408, 'github', () => signed('github'), { body: { failure: 'timeout' } }),
];

function twice(request: WebhookRequest, name?: string): WebhookRequest {
  const from = name === undefined ? request.headers.length - 2 : request.headers.indexOf(name);
  return { ...request, headers: [...request.headers, request.headers[from]!, request.headers[from + 1]!] };
}

function changed(request: WebhookRequest, name: string, change: (value: string) => string): WebhookRequest {
  return withHeader(request, name, change(request.headers[request.headers.indexOf(name) + 1]!));
}

function at(provider: string, nowMs: number): WebhookRequest {
  const made = signWebhook(findProvider(provider)!, SECRET, requestOf({ body: '{}' }), nowMs);
  if ('problem' in made) throw new Error(made.problem);
  return made.request;
}

function notification(): WebhookRequest {
  return signed('sns', 'Hello', RSA_PRIVATE_KEY);
}

function edited(request: WebhookRequest, from: string, to: string): WebhookRequest {
  return { ...request, body: Buffer.from(Buffer.from(request.body).toString('utf8').replace(from, to)) };
}

describe('the module', () => {
  test.each(ENDS)(
    'ends with $reason (status $status) for $provider',
    ({ reason, status, provider, request, world }) => {
      const secret = provider === 'sns' ? undefined : provider === 'svix' ? 'c2VjcmV0' : SECRET;
      const verdict = moduleFor(provider, secret).run(request(), world);
      expect(verdict.reason.code).toBe(`webhook_verification.${reason}`);

      expect(verdict.verdict === 'stop' ? verdict.response.status : null).toBe(status);
      const headers = verdict.verdict === 'stop' ? verdict.response.headers : [];
      expect(headers.includes('ERR_SERVICE_3204')).toBe(status === 403);
    },
  );

  test('refuses everything with an unusable secret', () => {
    const verdict = moduleFor('svix', '?').run(signed('svix', '{}', 'c2VjcmV0'));
    expect(verdict).toMatchObject({
      verdict: 'stop',
      reason: { code: 'webhook_verification.secret_unusable' },
    });
  });

  test('has a case for every declared reason', () => {
    const reached = new Set([...ENDS.map(({ reason }) => reason), 'secret_unusable']);
    const declared = Object.keys(webhookVerification.reasons).map((code) => code.split('.')[1]!);
    expect([...reached].toSorted()).toEqual(declared.toSorted());
  });

  test('fetches a certificate once and caches only valid ones', () => {
    const module = moduleFor('sns', undefined);
    module.run(notification(), { fetch: { ...served, body: Buffer.from('none') } });
    module.run(notification(), { fetch: served });
    module.run(notification());
    expect(module.asked).toEqual(['body', 'fetch', 'body', 'fetch', 'body']);
  });

  test('fetches none for what is not signed, once the certificate is known', () => {
    const module = moduleFor('sns', undefined);
    const unsigned = () => edited(notification(), 'Hello', 'Hallo');
    for (const _ of [1, 2, 3])
      expect(module.run(unsigned(), { fetch: served }).reason.code).toContain('signature_mismatch');
    expect(module.run(notification()).reason.code).toContain('verified');
    expect(module.asked).toEqual(['body', 'fetch', 'body', 'body', 'body']);
  });

  test('never contains the secret', () => {
    for (const { provider, request, world } of ENDS.filter(
      (one) => !['sns', 'svix'].includes(one.provider),
    )) {
      expect(JSON.stringify(moduleFor(provider, SECRET).run(request(), world))).not.toContain(SECRET);
    }
  });
});
