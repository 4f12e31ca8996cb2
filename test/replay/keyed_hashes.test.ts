import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readHashKey, recordingOf } from '../../src/cli/recording.ts';
import { replayedEdge } from '../../src/replay/decide.ts';
import { hashKey } from '../../src/replay/keyed_hashes.ts';
import type { LogRecord } from '../../src/replay/log_record.ts';
import { readRecording } from '../../src/replay/read_recording.ts';
import type { RecordedExchange } from '../../src/replay/recording.ts';
import { redactExchange } from '../../src/replay/redact.ts';
import { redaction } from '../../src/replay/redaction.ts';
import { checked, configOf, createEdge, deny, policyOf } from './edges.ts';
import { sized } from '../random.ts';

const KEY = hashKey(Buffer.from('a key that only this test has'));
const OTHER = hashKey(Buffer.from('a key that another test has'));
const SECRET = 'k-Secret-1';

/** The record of a request that was redacted before it was written, with hashes of a key. */
function recorded(
  headers: Readonly<Record<string, string>>,
  key: typeof KEY | null = KEY,
  target = '/',
): LogRecord {
  const all = { host: 'shop.test', ...headers };
  const exchange = {
    at: '2026-01-01T00:00:00.000Z',
    request: {
      method: 'GET',
      scheme: 'https',
      target,
      version: '1.1',
      headers: Object.entries(all).flat(),
      body: { bytes: 0, text: '' },
    },
    client: {
      ip: '203.0.113.9',
      port: 1,
      server_ip: '127.0.0.1',
      server_port: 443,
      server_name: 'shop.test',
      connected: '2026-01-01T00:00:00.000Z',
      tls: null,
    },
    forwards: [
      {
        backend: 'app',
        address: 'localhost:3000',
        target,
        headers: [],
        response: { status: 200, headers: [], body: { bytes: 0 } },
        reused: false,
      },
    ],
    fetches: [],
    response: { status: 200, headers: [], body: { bytes: 0 } },
    event: {},
    trace: [],
    redactions: [],
  } as unknown as RecordedExchange;
  const line = JSON.stringify(redactExchange(exchange, redaction(['x-team'], null, key)));
  expect(line).not.toContain(SECRET);
  const record = readRecording(JSON.parse(line) as RecordedExchange, 1);
  if ('problem' in record) throw new Error(record.problem);
  return record;
}

/** `denied`, `passed`, or what is unknown. */
function decided(expression: string, record: LogRecord, key: typeof KEY | null = KEY): string {
  const edge = replayedEdge(checked(configOf(policyOf([deny(expression)]))), { hashKey: key });
  const { unknown, status } = edge.decide(record);
  return unknown[0]?.attribute ?? (status === 403 ? 'denied' : 'passed');
}

const REQUEST = {
  authorization: `Bearer ${SECRET}`,
  'x-api-key': SECRET,
  'x-csrf-token': SECRET,
  'x-team': 'blue',
  cookie: `a=1; csrf="${SECRET}"; b=${SECRET}`,
};

describe('redacted values with keyed hashes', () => {
  const cases: readonly (readonly [expression: string, withKey: string, without: string])[] = [
    [`getReqHeader('x-api-key')[0] == '${SECRET}'`, 'denied', 'value of x-api-key'],
    ["getReqHeader('x-api-key')[0] == 'other'", 'passed', 'value of x-api-key'],
    [`getReqHeader('x-api-key')[0] != '${SECRET}'`, 'passed', 'value of x-api-key'],
    [`getReqHeader('authorization')[0] == 'Bearer ' + '${SECRET}'`, 'denied', 'value of authorization'],
    [`req.headers['authorization'][0] == 'bearer ${SECRET}'`, 'passed', 'passed'],
    [`req.headers.authorization[0] in ['a', 'Bearer ${SECRET}']`, 'denied', 'value of authorization'],
    [`getReqHeader('x-team')[0] in {'blue': 1, 'red': 2}`, 'denied', 'value of x-team'],
    [`'red' in getReqHeader('x-team')`, 'passed', 'value of x-team'],
    [`getReqCookie('csrf') == '${SECRET}'`, 'denied', 'value of cookie'],
    [`req.cookies['b'][0].value == '${SECRET}'`, 'denied', 'value of cookie'],
    [`req.cookies.a[0].value == '2'`, 'passed', 'value of cookie'],
    // Two values of one request can be compared without the key.
    ["getReqHeader('x-csrf-token')[0] == getReqCookie('csrf')", 'denied', 'denied'],
    ["getReqHeader('x-csrf-token')[0] == getReqCookie('a')", 'passed', 'passed'],
    // What is not a comparison, or not of the value itself, is unknown.
    ["getReqHeader('x-api-key')[0].lowerAscii() == 'k-secret-1'", 'value of x-api-key', 'value of x-api-key'],
    ["getReqHeader('x-api-key')[0].startsWith('k')", 'value of x-api-key', 'value of x-api-key'],
    ["getReqHeader('x-api-key')[0] < 'z'", 'value of x-api-key', 'value of x-api-key'],
    [`getReqHeader('cookie')[0] == 'a=1'`, 'value of cookie', 'value of cookie'],
    ["getReqHeader('x-api-key')[0].size() == 10", 'value of x-api-key', 'value of x-api-key'],
  ];
  it.each(cases)('%s: %s, %s', (expression, withKey, without) => {
    const record = recorded(REQUEST);
    expect(decided(expression, record)).toBe(withKey);
    expect(decided(expression, record, null)).toBe(without);
    expect(decided(expression, record, OTHER)).toBe(without);
    const plain = decided(expression, recorded(REQUEST, null));
    expect(plain === 'passed' || plain.startsWith('value of')).toBe(true);
  });

  it('are compared with parameters as expressions read them', () => {
    const record = recorded({}, KEY, '/?token=k%2dSecret+1&api_key=&q=1');
    expect(decided("getQueryParam('token')[0] == 'k-Secret 1'", record)).toBe('denied');
    expect(decided("req.url.query_params['token'][0] == 'k-Secret+1'", record)).toBe('passed');
    expect(decided("getQueryParam('q')[0] in ['1', '2']", record)).toBe('denied');
    expect(decided("getQueryParam('api_key') == ['']", record)).toBe('query');
    expect(decided("req.url.query == 'x'", record)).toBe('query');
    expect(decided("getQueryParam('token')[0] == 'x'", recorded({}, null, '/?token=y'))).toBe('query');
  });

  it('separate the counters of clients without the key', () => {
    const config = { name: 'l', algorithm: 'sliding_window', capacity: 1, rate: '60s' };
    const limit = { type: 'rate-limit', config: { ...config, bucket_key: ["getReqHeader('x-api-key')[0]"] } };
    const statusesOf = (keys: readonly (typeof KEY | null)[], ...later: readonly object[]) => {
      const edge = replayedEdge(checked(configOf(policyOf([{ actions: [limit] }, ...later]))));
      return ['one', 'two', 'one'].map((value, at) => {
        const { unknown, exchange } = edge.decide(recorded({ 'x-api-key': value }, keys[at]));
        return unknown[0]?.attribute ?? exchange.response?.status;
      });
    };
    expect(statusesOf([KEY, KEY, KEY])).toEqual([200, 200, 429]);
    expect(statusesOf([KEY, KEY, OTHER])[2]).toBeTypeOf('string');
    expect(statusesOf([null, null, null])[0]).toBe('a text built from missing values');
    const shown = deny("actions.service.rate_limit.bucket_key == 'one'");
    expect(statusesOf([KEY, KEY, KEY], shown)[0]).toBe('results of actions');
  });

  const name = fc.constantFrom('x-api-key', 'x-team', 'x-plain');
  const value = fc.constantFrom('a', 'b', 'Bearer a', 'bearer a', '', 'a b');
  const text = value.map((each) => `'${each}'`);
  const access = name.map((each) => `getReqHeader('${each}')[0]`);
  const operand = fc.oneof(access, access, text, fc.constant("getReqCookie('a')"));
  const comparison = fc.oneof(
    fc.tuple(operand, fc.constantFrom('==', '!='), operand).map((parts) => parts.join(' ')),
    fc.tuple(operand, fc.array(operand, { maxLength: 3 })).map(([one, all]) => `${one} in [${all.join()}]`),
    fc.tuple(text, name).map(([one, own]) => `${one} in getReqHeader('${own}')`),
  );
  const condition = fc
    .tuple(comparison, fc.constantFrom('&&', '||'), comparison)
    .map(([one, operator, other]) => `(${one}) ${operator} !(${other})`);

  it('never decide otherwise than the values, and with the key almost always', () => {
    const withKey = { decided: 0, unknown: 0 };
    fc.assert(
      fc.property(condition, value, value, value, fc.boolean(), (expression, one, two, three, hasKey) => {
        const headers = { 'x-api-key': one, 'x-team': two, 'x-plain': three, cookie: `a=${one}` };
        let edge: ReturnType<typeof createEdge>;
        try {
          edge = createEdge(configOf(policyOf([deny(expression)])));
        } catch {
          return; // a constant condition may be refused
        }
        const { status } = edge.decide({ url: 'https://shop.test/', headers });
        const said = decided(expression, recorded(headers), hasKey ? KEY : null);
        if (said === 'denied' || said === 'passed') {
          expect([said, status]).toEqual([said, said === 'denied' ? 403 : 200]);
          if (hasKey) withKey.decided++;
        } else if (hasKey && status !== 500) withKey.unknown++;
      }),
      sized(400, 11),
    );
    // A value with a scheme, such as `Bearer a`, is kept as scheme and hash, which other values are not compared with.
    expect(withKey.unknown).toBeLessThan(withKey.decided / 5);
  });
});

describe('the key', () => {
  it('is made for its owner only, kept apart from the recording, and used again', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'edgeproof-key-'));
    const [record, file] = [join(folder, 'recording.ndjson'), join(folder, 'key')];
    const config = checked(configOf({}));
    for (const options of [{ hashKey: file }, { hashKey: file }, { hashRedacted: true }])
      await (await recordingOf(() => config, { record, ...options }))!.close();
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const text = (await readFile(file, 'utf8')).trim();
    expect(text.length).toBeGreaterThan(40);
    expect(await readFile(record, 'utf8')).not.toContain(text);
    expect((await readHashKey(file)).hash('a')).toBe(hashKey(Buffer.from(text)).hash('a'));
    await writeFile(file, 'too short\n');
    await expect(recordingOf(() => config, { record, hashKey: file })).rejects.toThrow('at least 16 bytes');
    await rm(folder, { recursive: true });
  });
});
