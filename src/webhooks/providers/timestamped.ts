import type { Place, Provider, Scheme } from '../provider.ts';
import { header, json, member, timed, timestamp } from './rows.ts';

/** The scheme of Svix and Standard Webhooks, whose three headers share a prefix. */
function svixScheme(prefix: string): Scheme {
  return {
    ...timed(
      member(`${prefix}-signature`, ' ', 'v1', ','),
      '{id}.{timestamp}.{body}',
      timestamp(header(`${prefix}-timestamp`), 's', 300),
      'base64',
    ),
    name: prefix,
    key: 'whsec',
    fields: { id: header(`${prefix}-id`) },
  };
}

/** `t=…,v1=…` over `t.body`: Stripe's scheme, which many providers use. */
function stripeScheme(name: string, windowSeconds?: number, key = 'v1', time = 't'): Scheme {
  const at: Place = member(name, ',', time);
  return timed(member(name, ',', key), '{timestamp}.{body}', timestamp(at, 's', windowSeconds));
}

/** Providers that sign a timestamp and the body. */
// table
export const TIMESTAMPED: readonly Provider[] = [
  {
    id: 'airship',
    title: 'Airship',
    certainty: 'high',
    source: 'Airship documentation; public integrations',
    schemes: [timed(header('X-UA-SIGNATURE'), '{timestamp}:{body}', timestamp(header('X-UA-TIMESTAMP')))],
  },
  {
    id: 'box',
    title: 'Box',
    certainty: 'high',
    source: 'Box documentation; box-node-sdk; boxsdk for Python',
    schemes: [
      timed(
        [header('BOX-SIGNATURE-PRIMARY'), header('BOX-SIGNATURE-SECONDARY')],
        '{body}{timestamp}',
        timestamp(header('BOX-DELIVERY-TIMESTAMP'), 'iso', 600),
        'base64',
      ),
    ],
  },
  {
    id: 'brex',
    title: 'Brex',
    certainty: 'medium',
    source: 'Brex documentation; webhooks.fyi',
    schemes: [svixScheme('webhook')],
  },
  {
    id: 'buildkite',
    title: 'Buildkite',
    certainty: 'high',
    source: 'Buildkite documentation; public integrations',
    schemes: [stripeScheme('X-Buildkite-Signature', undefined, 'signature', 'timestamp')],
    note: 'The alternative plain token (X-Buildkite-Token) is not accepted.',
  },
  {
    id: 'calendly',
    title: 'Calendly',
    certainty: 'high',
    source: 'Calendly documentation; webhook-verify (crate)',
    schemes: [stripeScheme('Calendly-Webhook-Signature', 180)],
  },
  {
    id: 'clerk',
    title: 'Clerk',
    certainty: 'high',
    source: 'Clerk documentation; svix (npm)',
    schemes: [svixScheme('svix'), svixScheme('webhook')],
  },
  {
    id: 'frameio',
    title: 'Frame.io',
    certainty: 'high',
    source: 'Frame.io documentation; public integrations',
    schemes: [
      timed(
        header('X-Frameio-Signature', 'v0='),
        'v0:{timestamp}:{body}',
        timestamp(header('X-Frameio-Request-Timestamp'), 's', 300),
      ),
    ],
  },
  {
    id: 'go1',
    title: 'Go1',
    certainty: 'high',
    source: 'Go1 documentation; @go1/webhook-verifier-js',
    schemes: [stripeScheme('go1-signature', 60)],
  },
  {
    id: 'graphcms',
    title: 'Hygraph (GraphCMS)',
    certainty: 'high',
    source: '@hygraph/utils (npm)',
    schemes: [
      {
        ...timed(
          member('gcms-signature', ', ', 'sign'),
          '{"Body":{body_json},"EnvironmentName":"{env}","TimeStamp":{timestamp}}',
          timestamp(member('gcms-signature', ', ', 't'), 'ms'),
          'base64',
        ),
        fields: { env: member('gcms-signature', ', ', 'env') },
        memberOrder: ['sign', 'env', 't'],
      },
    ],
  },
  {
    id: 'hostedhooks',
    title: 'HostedHooks',
    certainty: 'high',
    source: 'HostedHooks documentation (webhook signatures)',
    schemes: [stripeScheme('HostedHooks-Signature', undefined, 's')],
  },
  {
    id: 'linear',
    title: 'Linear',
    certainty: 'high',
    source: '@linear/sdk (npm)',
    schemes: [timed(header('Linear-Signature'), '{body}', timestamp(json('webhookTimestamp'), 'ms', 60))],
  },
  {
    id: 'mux',
    title: 'Mux',
    certainty: 'high',
    source: '@mux/mux-node (npm)',
    schemes: [stripeScheme('Mux-Signature', 300)],
  },
  {
    id: 'orb',
    title: 'Orb',
    certainty: 'high',
    source: 'orb-billing (npm)',
    schemes: [
      timed(
        member('X-Orb-Signature', ' ', 'v1'),
        'v1:{timestamp}:{body}',
        timestamp(header('X-Orb-Timestamp'), 'iso', 300),
      ),
    ],
  },
  {
    id: 'paddle',
    title: 'Paddle Billing',
    certainty: 'high',
    source: '@paddle/paddle-node-sdk (npm)',
    schemes: [
      timed(
        member('Paddle-Signature', ';', 'h1'),
        '{timestamp}:{body}',
        timestamp(member('Paddle-Signature', ';', 'ts'), 's', 5),
      ),
    ],
    addition: true,
    note: 'The provider’s own library allows five seconds.',
  },
  {
    id: 'pinwheel',
    title: 'Pinwheel',
    certainty: 'high',
    source: 'Pinwheel documentation (webhook signature verification); public integrations',
    schemes: [
      timed(header('X-Pinwheel-Signature', 'v2='), 'v2:{timestamp}:{body}', timestamp(header('X-Timestamp'))),
    ],
  },
  {
    id: 'sendgrid',
    title: 'SendGrid',
    certainty: 'high',
    source: '@sendgrid/eventwebhook (npm)',
    schemes: [
      {
        ...timed(
          header('X-Twilio-Email-Event-Webhook-Signature'),
          '{timestamp}{body}',
          timestamp(header('X-Twilio-Email-Event-Webhook-Timestamp')),
          'base64',
        ),
        algorithm: 'ecdsa_p256_sha256',
        key: 'public_key',
      },
    ],
    note: 'The secret is the public verification key, base64 or PEM.',
  },
  {
    id: 'slack',
    title: 'Slack',
    certainty: 'high',
    source: 'Slack documentation; @slack/bolt',
    schemes: [
      timed(
        header('X-Slack-Signature', 'v0='),
        'v0:{timestamp}:{body}',
        timestamp(header('X-Slack-Request-Timestamp'), 's', 300),
      ),
    ],
  },
  {
    id: 'standard_webhooks',
    title: 'Standard Webhooks',
    certainty: 'high',
    source: 'the Standard Webhooks specification; standardwebhooks (npm)',
    schemes: [
      svixScheme('webhook'),
      {
        ...svixScheme('webhook'),
        name: 'asymmetric',
        algorithm: 'ed25519',
        key: 'public_key',
        signature: [member('webhook-signature', ' ', 'v1a', ',')],
        secretPrefix: 'whpk_',
      },
    ],
    addition: true,
    note: 'With a secret that begins with whpk_, signatures are Ed25519 (v1a).',
  },
  {
    id: 'stripe',
    title: 'Stripe',
    certainty: 'high',
    source: 'Stripe documentation; stripe (npm)',
    schemes: [stripeScheme('Stripe-Signature', 300)],
  },
  {
    id: 'svix',
    title: 'Svix',
    certainty: 'high',
    source: 'Svix documentation; svix (npm)',
    schemes: [svixScheme('svix'), svixScheme('webhook')],
  },
  {
    id: 'tiktok',
    title: 'TikTok',
    certainty: 'high',
    source: 'TikTok documentation; public integrations',
    schemes: [stripeScheme('TikTok-Signature', undefined, 's')],
  },
  {
    id: 'zendesk',
    title: 'Zendesk',
    certainty: 'high',
    source: 'Zendesk documentation; webhook-verify (crate)',
    schemes: [
      timed(
        header('X-Zendesk-Webhook-Signature'),
        '{timestamp}{body}',
        timestamp(header('X-Zendesk-Webhook-Signature-Timestamp'), 'iso'),
        'base64',
      ),
    ],
  },
  {
    id: 'zoom',
    title: 'Zoom',
    certainty: 'high',
    source: 'Zoom documentation; webhook-verify (crate)',
    schemes: [
      timed(
        header('x-zm-signature', 'v0='),
        'v0:{timestamp}:{body}',
        timestamp(header('x-zm-request-timestamp'), 's', 300),
      ),
    ],
    challenge: 'zoom_validation',
  },
];
