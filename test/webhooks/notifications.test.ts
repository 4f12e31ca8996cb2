import { createSign } from 'node:crypto';
import { EventEmitter } from 'node:events';
import https from 'node:https';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import {
  CERTIFICATE_CACHE_SIZE,
  isCertificateUrl,
  rememberCertificate,
} from '../../src/webhooks/certificate.ts';
import { TEST_CERTIFICATE_URL } from '../../src/webhooks/draft.ts';
import { signWebhook } from '../../src/webhooks/sign.ts';
import { findProvider } from '../../src/webhooks/table.ts';
import { verifyWebhook } from '../../src/webhooks/verify.ts';
import { RSA_CERTIFICATE, RSA_PRIVATE_KEY, WEAK_CERTIFICATE } from './keys.ts';
import { requestOf, textOf } from './requests.ts';
import { hasLibrariesFor } from '../peers.ts';

const sns = findProvider('sns')!;
const NOW = Date.UTC(2027, 0, 2, 3, 4, 5, 678);
const CERTIFICATES = new Map([[TEST_CERTIFICATE_URL, RSA_CERTIFICATE]]);

const NOTIFICATION: Readonly<Record<string, string>> = {
  Type: 'Notification',
  MessageId: '22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324',
  TopicArn: 'arn:aws:sns:us-west-2:123456789012:MyTopic',
  Subject: 'My First Message – ünïcode',
  Message: '{"default":"Hello \\"world\\"!"}\nsecond line',
  Timestamp: '2027-01-02T03:04:00.678Z',
  UnsubscribeURL: 'https://sns.us-west-2.amazonaws.com/?Action=Unsubscribe',
  SigningCertURL: TEST_CERTIFICATE_URL,
};

const { Subject: _, ...WITHOUT_SUBJECT } = NOTIFICATION;

const SUBSCRIPTION: Readonly<Record<string, string>> = {
  ...WITHOUT_SUBJECT,
  Type: 'SubscriptionConfirmation',
  Token: '2336412f37',
  SubscribeURL: 'https://sns.us-west-2.amazonaws.com/?Action=ConfirmSubscription&Token=2336412f37',
};

/** A message signed as the service documents it, by nothing of ours. */
function messageOf(members: Readonly<Record<string, string>>, version: '1' | '2'): Record<string, string> {
  const isNotification = members['Type'] === 'Notification';
  const names = isNotification
    ? ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type']
    : ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'];
  const signer = createSign(version === '1' ? 'RSA-SHA1' : 'RSA-SHA256');
  for (const name of names) if (members[name] !== undefined) signer.update(`${name}\n${members[name]}\n`);
  return { ...members, SignatureVersion: version, Signature: signer.sign(RSA_PRIVATE_KEY, 'base64') };
}

function verify(message: object | string, nowMs = NOW, certificates = CERTIFICATES) {
  const body = typeof message === 'string' ? message : JSON.stringify(message);
  return verifyWebhook(sns, undefined, requestOf({ body }), nowMs, certificates);
}

test('the topic in the header must be the signed one', () => {
  const { TopicArn: topic } = NOTIFICATION;
  const outcomeWith = (headers: readonly string[]) => {
    const request = requestOf({ body: JSON.stringify(messageOf(NOTIFICATION, '2')) });
    const all = { ...request, headers: [...request.headers, ...headers] };
    return verifyWebhook(sns, undefined, all, NOW, CERTIFICATES);
  };
  const name = 'X-Amz-Sns-Topic-Arn';
  expect(outcomeWith([name, topic!])).toMatchObject({ outcome: 'verified' });
  expect(outcomeWith([name, `${topic}2`])).toMatchObject({ outcome: 'refused', reason: 'field_malformed' });
  expect(outcomeWith([name, topic!, name, topic!])).toMatchObject({ reason: 'field_duplicated' });
});

const KINDS: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
  ['a notification', NOTIFICATION],
  ['a notification without subject', WITHOUT_SUBJECT],
  ['a subscription', SUBSCRIPTION],
  ['the end of a subscription', { ...SUBSCRIPTION, Type: 'UnsubscribeConfirmation' }],
];

describe.each(KINDS)('%s', (_kind, members) => {
  test.each(['1', '2'] as const)(
    'of signature version %s is accepted, and refused after a change',
    (version) => {
      const message = messageOf(members, version);
      expect(verify(message)).toMatchObject({ outcome: 'verified', scheme: 'certificate' });
      const signed = Object.keys(message).filter((name) => name !== 'UnsubscribeURL');
      for (const name of signed) {
        const { [name]: value, ...rest } = message;
        expect({ name, ...verify(rest) }).toMatchObject({ name, outcome: 'refused' });
        expect({ name, ...verify({ ...message, [name]: `${value} ` }) }).toMatchObject({
          name,
          outcome: 'refused',
        });
      }
      const other = messageOf({ ...members, Message: 'other' }, version);
      expect(verify({ ...message, Signature: other['Signature']! })).toMatchObject({
        reason: 'signature_mismatch',
      });
      expect(verify({ ...message, SignatureVersion: version === '1' ? '2' : '1' })).toMatchObject({
        reason: 'signature_mismatch',
      });
    },
  );
});

const known = (pem: string) => new Map([[TEST_CERTIFICATE_URL, pem]]);

describe('the certificate of a message', () => {
  const message = messageOf(NOTIFICATION, '2');

  test('is fetched if it is unknown, and only from the service', () => {
    expect(verify(message, NOW, new Map())).toEqual({ outcome: 'certificate', url: TEST_CERTIFICATE_URL });
    const evil = messageOf({ ...NOTIFICATION, SigningCertURL: 'https://evil.example/x.pem' }, '2');
    expect(verify(evil, NOW, new Map())).toMatchObject({ reason: 'certificate_refused' });
  });

  test('is not fetched for a stale message', () => {
    expect(verify(message, NOW + 2 * 3_600_000, new Map())).toMatchObject({ reason: 'timestamp_stale' });
    expect(verify(message, NOW - 2 * 3_600_000, new Map())).toMatchObject({ reason: 'timestamp_future' });
  });

  test('must be well-formed, currently valid, and have a strong key', () => {
    const unusable = { reason: 'certificate_unusable' };
    expect(verify(message, NOW, known('no certificate'))).toMatchObject(unusable);
    expect(verify(message, NOW, known(WEAK_CERTIFICATE))).toMatchObject(unusable);
    expect(verify(message, NOW, known(`${RSA_CERTIFICATE}${' '.repeat(20_000)}`))).toMatchObject(unusable);
    const early = messageOf({ ...NOTIFICATION, Timestamp: '2020-01-01T00:00:00.000Z' }, '2');
    expect(verify(early, Date.UTC(2020, 0, 1))).toMatchObject(unusable);
  });

  test.each([
    'https://sns.us-east-1.amazonaws.com/SimpleNotificationService-0123456789abcdef.pem',
    'https://sns.cn-north-1.amazonaws.com.cn/SimpleNotificationService-0123456789abcdef.pem',
    'https://sns.us-gov-west-1.amazonaws.com/SimpleNotificationService-0123456789abcdef.pem',
    'https://sns.ap-southeast-7.amazonaws.com/SimpleNotificationService-0123456789abcdef.pem',
  ])('may come from %s', (url) => expect(isCertificateUrl(url)).toBe(true));

  test.each([
    'http://sns.us-east-1.amazonaws.com/a.pem',
    'https://sns.us-east-1.amazonaws.com.evil.example/a.pem',
    'https://evil.example/sns.us-east-1.amazonaws.com/a.pem',
    'https://sns.us-east-1.amazonaws.com@evil.example/a.pem',
    'https://sns.us-east-1.amazonaws.com:8443/a.pem',
    'https://sns.us-east-1.amazonaws.com/?Action=GetSomething&x=.pem',
    'https://sns.us-east-1.amazonaws.com/a/b.pem',
    'https://sns.us-east-1.amazonaws.com/a.pem?x=.pem',
    'https://sns.us-east-1.amazonaws.com/a.pem#.pem',
    'https://sns.us-east-1.amazonaws.com/a.pem\n',
    'https://sns.a.b.amazonaws.com/a.pem',
    'https://s3.us-east-1.amazonaws.com/a.pem',
    // A storage bucket named `sns`.
    'https://sns.s3-us-west-2.amazonaws.com/a.pem',
    'https://sns.s3-accelerate.amazonaws.com/a.pem',
    'https://sns.s3-website-us-east-1.amazonaws.com/a.pem',
    'https://sns.elb.amazonaws.com/a.pem',
    'https://sns.execute-api.amazonaws.com/a.pem',
  ])('may not come from %j', (url) => expect(isCertificateUrl(url)).toBe(false));

  test('is cached, and the oldest one is evicted', () => {
    const cache = new Map<string, string>();
    const remember = (url: string, verified = true) =>
      rememberCertificate(cache, { url, pem: RSA_CERTIFICATE, verified }, NOW);
    for (let at = 0; at <= CERTIFICATE_CACHE_SIZE; at++) remember(`url ${at}`);
    expect(cache.size).toBe(CERTIFICATE_CACHE_SIZE);
    expect(cache.has('url 0')).toBe(false);
    remember('url 1');
    remember('url new');
    expect([cache.has('url 1'), cache.has('url 2')]).toEqual([true, false]);
  });

  test('is cached for an unsigned message, too, if it is usable and there is room', () => {
    const cache = new Map<string, string>();
    const remember = (url: string, pem = RSA_CERTIFICATE) =>
      rememberCertificate(cache, { url, pem, verified: false }, NOW);
    remember('url 0', 'no certificate');
    remember('url 0', WEAK_CERTIFICATE);
    expect(cache.size).toBe(0);
    for (let at = 0; at <= CERTIFICATE_CACHE_SIZE; at++) remember(`url ${at}`);
    expect([cache.has('url 0'), cache.has(`url ${CERTIFICATE_CACHE_SIZE}`)]).toEqual([true, false]);
  });

  test('is not fetched for what cannot be a signature', () => {
    for (const Signature of ['AAAA', 'not base64', Buffer.alloc(255).toString('base64')])
      expect(verify({ ...message, Signature }, NOW, new Map())).toMatchObject({
        reason: 'signature_malformed',
      });
  });
});

test('a message with a repeated member is refused, because parsers differ', () => {
  const text = JSON.stringify(messageOf(NOTIFICATION, '2'));
  expect(verify(text)).toMatchObject({ outcome: 'verified' });
  for (const twice of ['"Message":"evil",', '"\\u004dessage":"evil",']) {
    expect(verify(text.replace('{', `{${twice}`))).toMatchObject({ outcome: 'refused' });
  }
});

describe.skipIf(!hasLibrariesFor('SNS notifications beside two libraries'))('other libraries', () => {
  // They fetch the certificate by themselves; there is no network here, so the fetch is answered.
  beforeAll(() => {
    vi.spyOn(https, 'get').mockImplementation(((...given: unknown[]) => {
      const done = given.at(-1) as (response: EventEmitter) => void;
      const response = Object.assign(new EventEmitter(), { statusCode: 200 });
      queueMicrotask(() => {
        done(response);
        response.emit('data', RSA_CERTIFICATE);
        response.emit('end');
      });
      return new EventEmitter();
    }) as never);
  });
  afterAll(() => void vi.restoreAllMocks());

  const validators: Readonly<Record<string, (text: string) => Promise<boolean>>> = {
    'sns-validator': async (text) => {
      const { SnsValidator } = await import('./sdk/libraries.ts');
      return new Promise((resolve) => {
        new SnsValidator().validate(text, (error) => resolve(error === null));
      });
    },
    'sns-payload-validator': async (text) => {
      const { SnsPayloadValidator } = await import('./sdk/libraries.ts');
      return new SnsPayloadValidator({ useCache: false }).validate(text).then(
        () => true,
        () => false,
      );
    },
  };

  test.each(Object.keys(validators))(
    '%s accepts our signatures, and refuses them after a change',
    async (name) => {
      const validate = validators[name]!;
      for (const body of ['Hello', JSON.stringify(SUBSCRIPTION)]) {
        const signed = signWebhook(sns, RSA_PRIVATE_KEY, requestOf({ body }), NOW);
        if ('problem' in signed) throw new Error(signed.problem);
        const text = textOf(signed.request);
        expect(verify(text)).toMatchObject({ outcome: 'verified' });
        expect(await validate(text)).toBe(true);
        expect(await validate(text.replace('Hello', 'Hallo').replace('second line', 'third line'))).toBe(
          false,
        );
      }
    },
  );
});
