import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Instance, startInstance } from './instance.ts';

/** Targets that the service does not have, through the API. */

let instance: Instance;
beforeAll(async () => {
  instance = await startInstance({ allowPrivateCallbacks: false });
});
afterAll(() => instance.close());

const SECRET = 'sesame-4711';
const creds = { aws_access_key_id: 'AKID', aws_secret_access_key: SECRET };

// table: a target of each kind as it is given, and what of it is shown
const TARGETS = {
  s3: {
    given: { auth: { creds }, bucket: 'edge-events', endpoint: 'https://minio.example' },
    shown: {
      auth: { creds: { ...creds, aws_secret_access_key: '' } },
      bucket: 'edge-events',
      region: 'us-east-1',
      prefix: '',
      endpoint: 'https://minio.example',
      max_bytes: 8_388_608,
      max_seconds: 60,
    },
  },
  otlp: {
    given: { url: 'https://collector.example', headers: { authorization: `Bearer ${SECRET}` } },
    shown: {
      url: 'https://collector.example',
      headers: { authorization: '' },
      encoding: 'protobuf',
      compression: 'gzip',
      signals: ['logs', 'traces'],
    },
  },
  nats: {
    given: { servers: ['tls://queue.example'], subject: 'edge.events', user: 'ann', password: SECRET },
    shown: { servers: ['tls://queue.example'], subject: 'edge.events', user: 'ann', password: '' },
  },
  kafka: {
    given: {
      brokers: ['kafka.example:9093'],
      topic: 'edge',
      sasl: { mechanism: 'scram-sha-512', username: 'ann', password: SECRET },
    },
    shown: {
      brokers: ['kafka.example:9093'],
      topic: 'edge',
      tls: true,
      sasl: { mechanism: 'scram-sha-512', username: 'ann', password: '' },
    },
  },
};

it('are kept with their defaults; their secrets are in no answer and not in the store', async () => {
  for (const [name, { given, shown }] of Object.entries(TARGETS)) {
    const { id } = await instance.make('/event_destinations', { target: { [name]: given } });
    const { status, body } = await instance.call('GET', `/event_destinations/${id}`);
    expect([status, body.target]).toEqual([200, expect.objectContaining({ [name]: shown, firehose: null })]);
    expect(JSON.stringify(body)).not.toContain(SECRET);
  }
  const files = readdirSync(instance.folder).filter((file) => file.includes('.db'));
  expect(files.length).toBeGreaterThan(0);
  for (const file of files) expect(readFileSync(join(instance.folder, file)).includes(SECRET)).toBe(false);
});

describe('are refused with their place', () => {
  it.each([
    ['/target/s3/endpoint', { s3: { ...TARGETS.s3.given, endpoint: 'http://169.254.169.254/' } }],
    ['/target/otlp/url', { otlp: { url: 'http://localhost:4318' } }],
    ['/target/otlp/url', { otlp: { url: 'https://user:pass@collector.example' } }],
    [
      '/target/nats/servers/1',
      { nats: { servers: ['nats://queue.example', 'nats://[::1]:4222'], subject: 'a' } },
    ],
    ['/target/kafka/brokers/0', { kafka: { brokers: ['10.0.0.1:9092'], topic: 'a' } }],
    ['/target/kafka/brokers/0', { kafka: { brokers: ['kafka.example'], topic: 'a' } }],
    ['/target/s3/prefix', { s3: { ...TARGETS.s3.given, prefix: '../x' } }],
    ['/target/nats/subject', { nats: { servers: ['nats://queue.example'], subject: 'edge.*' } }],
    ['/target/s3/auth', { s3: { ...TARGETS.s3.given, auth: {} } }],
  ])('%s of %j', async (pointer, target) => {
    const { status, body } = await instance.call('POST', '/event_destinations', { target });
    expect([status, body.details.pointer]).toEqual([400, pointer]);
  });
});
