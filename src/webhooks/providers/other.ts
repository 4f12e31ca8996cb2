import type { Provider } from '../provider.ts';
import { form, header, json, member, overBody, timestamp } from './rows.ts';

/**
 * Providers that sign URLs, form parameters, members or headers, that sign nothing, or that have unusual
 * keys.
 */
// table
export const OTHER: readonly Provider[] = [
  {
    id: 'clearbit',
    title: 'Clearbit',
    certainty: 'high',
    source: 'clearbit-ruby (Clearbit::Webhook); a public gist for keys that begin with sk_',
    schemes: [
      overBody(header('X-Request-Signature', 'sha1='), 'hex', 'hmac_sha1'),
      {
        ...overBody(header('X-Request-Signature', 'sha1='), 'hex', 'hmac_sha1'),
        name: 'secret key',
        key: 'after_prefix',
        secretPrefix: 'sk_',
      },
      {
        ...overBody(header('X-Request-Signature', 'sha1='), 'hex', 'hmac_sha1'),
        name: 'secret key as it is',
        secretPrefix: 'sk_',
      },
    ],
    note: 'The secret is the API key. If it begins with sk_, the rest is the key; the whole text is accepted as a key, too.',
  },
  {
    id: 'contentful',
    title: 'Contentful',
    certainty: 'high',
    source: '@contentful/node-apps-toolkit (npm)',
    schemes: [
      {
        name: 'canonical request',
        algorithm: 'hmac_sha256',
        encoding: 'hex',
        signature: [header('x-contentful-signature')],
        signs: '{contentful_request}',
        key: 'text',
        timestamp: timestamp(header('x-contentful-timestamp'), 'ms', 30),
        fields: { signed_headers: header('x-contentful-signed-headers') },
      },
    ],
    secretLength: 64,
  },
  {
    id: 'gitlab',
    title: 'GitLab',
    certainty: 'high',
    source: 'GitLab documentation',
    schemes: [
      {
        name: 'token',
        algorithm: 'token',
        encoding: 'text',
        signature: [header('X-Gitlab-Token')],
        signs: '{secret}',
        key: 'text',
      },
    ],
    note: 'Nothing is signed: the header is the secret.',
  },
  {
    id: 'hubspot',
    title: 'HubSpot',
    certainty: 'high',
    source: 'HubSpot documentation; @hubspot/api-client',
    schemes: [
      {
        name: 'v3',
        algorithm: 'hmac_sha256',
        encoding: 'base64',
        signature: [header('X-HubSpot-Signature-v3')],
        signs: '{method}{url}{body}{timestamp}',
        key: 'text',
        timestamp: timestamp(header('X-HubSpot-Request-Timestamp'), 'ms', 300),
        url: ['as_seen', 'reserved_decoded'],
      },
      {
        name: 'v2',
        algorithm: 'sha256',
        encoding: 'hex',
        signature: [header('X-HubSpot-Signature')],
        signs: '{secret}{method}{url}{body}',
        key: 'text',
        when: { at: header('X-HubSpot-Signature-Version'), is: 'v2' },
      },
      {
        name: 'v1',
        algorithm: 'sha256',
        encoding: 'hex',
        signature: [header('X-HubSpot-Signature')],
        signs: '{secret}{body}',
        key: 'text',
        when: { at: header('X-HubSpot-Signature-Version'), is: 'v1' },
      },
    ],
    note: 'If present, the third version decides. The older two have no timestamp.',
  },
  {
    id: 'mailchimp',
    title: 'Mailchimp Transactional (Mandrill)',
    certainty: 'high',
    source: 'Mailchimp documentation; webhook-verify (crate)',
    schemes: [
      {
        name: 'form',
        algorithm: 'hmac_sha1',
        encoding: 'base64',
        signature: [header('X-Mandrill-Signature')],
        signs: '{url}{form}',
        key: 'text',
      },
    ],
    note: 'The test request signed with the key test-webhook is refused. Audience webhooks are not signed.',
  },
  {
    id: 'mailgun',
    title: 'Mailgun',
    certainty: 'high',
    source: 'Mailgun documentation (securing webhooks)',
    schemes: [
      {
        name: 'json',
        algorithm: 'hmac_sha256',
        encoding: 'hex',
        signature: [json('signature.signature')],
        signs: '{timestamp}{token}',
        key: 'text',
        timestamp: timestamp(json('signature.timestamp')),
        fields: { token: json('signature.token') },
      },
      {
        name: 'form',
        algorithm: 'hmac_sha256',
        encoding: 'hex',
        signature: [form('signature')],
        signs: '{timestamp}{token}',
        key: 'text',
        timestamp: timestamp(form('timestamp')),
        fields: { token: form('token') },
      },
    ],
    note: 'Only timestamp and token are signed, not the rest of the body. Multipart bodies are not read.',
  },
  {
    id: 'microsoft_teams',
    title: 'Microsoft Teams',
    certainty: 'high',
    source: 'Microsoft documentation; public integrations',
    schemes: [{ ...overBody(header('Authorization', 'HMAC '), 'base64'), key: 'base64' }],
  },
  {
    id: 'orbit',
    title: 'Orbit',
    certainty: 'medium',
    source: 'RedwoodJS documentation, which shows how to receive them; the product is discontinued',
    schemes: [
      {
        name: 'token',
        algorithm: 'token',
        encoding: 'text',
        signature: [header('X-Orbit-Signature')],
        signs: '{secret}',
        key: 'text',
      },
    ],
    note: 'Nothing is signed: the header is the secret.',
  },
  {
    id: 'plivo',
    title: 'Plivo',
    certainty: 'high',
    source: 'plivo (npm)',
    schemes: [
      {
        name: 'v3',
        algorithm: 'hmac_sha256',
        encoding: 'base64',
        signature: [member('X-Plivo-Signature-V3', ',', '', '')],
        signs: '{plivo_target}.{nonce}',
        key: 'text',
        fields: { nonce: header('X-Plivo-Signature-V3-Nonce') },
      },
    ],
    note: 'The second version is not accepted: it signs neither body nor query.',
  },
  {
    id: 'sns',
    title: 'Amazon SNS',
    certainty: 'high',
    source: 'Amazon documentation; sns-validator, sns-payload-validator (npm)',
    schemes: [
      {
        name: 'certificate',
        algorithm: 'rsa_certificate',
        encoding: 'base64',
        signature: [json('Signature')],
        signs: '{notification}',
        key: 'none',
        // Redeliveries within an hour keep the time of publication.
        timestamp: timestamp(json('Timestamp'), 'iso', 3600),
      },
    ],
    note: "Every AWS account can send messages with a valid signature. The upstream must check TopicArn, or a rule after verify-webhook must deny other topics: `req.headers['x-amz-sns-topic-arn'][0] != 'arn:aws:sns:…'`; a header that differs from the signed TopicArn is refused. MessageAttributes are not signed.",
  },
  {
    id: 'square',
    title: 'Square',
    certainty: 'high',
    source: 'square (npm)',
    schemes: [
      {
        ...overBody(header('x-square-hmacsha256-signature'), 'base64'),
        name: 'url and body',
        signs: '{url}{body}',
      },
    ],
    note: 'The URL must be the one configured at the provider. The older SHA-1 header is not accepted.',
  },
  {
    id: 'twilio',
    title: 'Twilio',
    certainty: 'high',
    source: 'Twilio documentation; twilio (npm)',
    schemes: [
      {
        name: 'url and form',
        algorithm: 'hmac_sha1',
        encoding: 'base64',
        signature: [header('X-Twilio-Signature')],
        signs: '{url}{form_or_body_hash}',
        key: 'text',
        url: ['without_port', 'with_port'],
      },
    ],
    note: 'A body other than a form must be covered by bodySHA256 in the URL.',
  },
  {
    id: 'vmware',
    title: 'VMware Workspace ONE',
    certainty: 'medium',
    source: 'the service’s guide, which specifies the secret as user::password',
    unverified: true,
    schemes: [
      {
        name: 'basic',
        algorithm: 'token',
        encoding: 'text',
        signature: [header('Authorization', 'Basic ')],
        signs: '{secret}',
        key: 'user_and_password',
      },
    ],
    note: 'Nothing is signed: the header is user and password.',
  },
];
