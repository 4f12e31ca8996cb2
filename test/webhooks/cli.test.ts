import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { stderr, stdout } from '../../src/cli/output.ts';
import { run } from '../../src/cli/run.ts';
import { curlOf, parseHttpRequest } from '../../src/cli/webhook_request.ts';
import { folderWith } from '../folder.ts';
import { RSA_CERTIFICATE, RSA_PRIVATE_KEY } from './keys.ts';
import { sized } from '../random.ts';

const folder = folderWith();

let out = '';
let err = '';
beforeEach(() => {
  out = '';
  err = '';
  process.exitCode = undefined;
  vi.spyOn(stdout, 'write').mockImplementation((text) => void (out += text));
  vi.spyOn(stderr, 'write').mockImplementation((text) => void (err += text));
});
afterEach(() => {
  vi.restoreAllMocks();
  process.exitCode = undefined;
});

/** Runs the verb and gives its exit code. */
const webhook = (...args: string[]): Promise<number> => run(['webhook', ...args]);

function file(name: string, text: string | Buffer): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

const AT = ['--at', '2027-06-01T12:00:00Z'];
const STRIPE = ['--provider', 'Stripe', '--secret', 'whsec_test'];

describe('webhook sign', () => {
  test('prints the headers to send', async () => {
    expect(await webhook('sign', ...STRIPE, '--data', file('a.json', '{"a":1}'), ...AT)).toBe(0);
    expect(out).toMatch(
      /^Content-Type: application\/json\n|^Stripe-Signature: t=1811851200,v1=[0-9a-f]{64}\n$/,
    );
  });

  test('prints a curl command', async () => {
    expect(
      await webhook(
        'sign',
        ...STRIPE,
        '--data',
        file('a.json', `{"a":"it's"}`),
        '--url',
        'https://a.test/x',
        '--curl',
        ...AT,
      ),
    ).toBe(0);
    expect(out).toMatch(
      /^curl -X POST 'https:\/\/a.test\/x' .*-H 'Stripe-Signature: t=.*' --data-raw '\{"a":"it'\\''s"\}'\n$/,
    );
  });

  test('prints body and URL if the signature is in them', async () => {
    expect(
      await webhook(
        'sign',
        '--provider',
        'mailgun',
        '--secret',
        'key',
        '-d',
        file('a.json', '{"event-data":{}}'),
        ...AT,
      ),
    ).toBe(0);
    expect(out).toContain('{"event-data":{},"signature":{"timestamp":"1811851200"');
    out = '';
    const json = ['-H', 'Content-Type: application/json'];
    expect(
      await webhook(
        'sign',
        '--provider',
        'twilio',
        '--secret',
        'key',
        '-d',
        file('a.json', '{}'),
        ...json,
        ...AT,
      ),
    ).toBe(0);
    expect(out).toContain(
      'URL: https://localhost/?bodySHA256=44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a',
    );
  });

  test('reports missing options', async () => {
    expect(await webhook('sign', '--provider', 'stripe')).toBe(2);
    expect(err).toContain('signing needs a secret');
    expect(await webhook('sign', '--provider', 'strpe', '--secret', 'x')).toBe(2);
    expect(err).toContain("did you mean 'stripe'?");
    expect(await webhook('sign', ...STRIPE, '-d', join(folder, 'none'))).toBe(2);
    expect(err).toContain('cannot read');
    expect(await webhook('sign', ...STRIPE, '--scheme', 'v9')).toBe(2);
    expect(err).toContain('has no scheme v9');
    expect(await webhook('sign', ...STRIPE, '--at', 'noon')).toBe(2);
  });
});

/** The header options of a request that sign has signed. */
async function signed(): Promise<string[]> {
  await webhook('sign', ...STRIPE, '--data', file('a.json', '{"a":1}'), '--json', ...AT);
  const request = JSON.parse(out) as { headers: [string, string][]; body: string };
  out = '';
  return request.headers.flatMap(([name, value]) => ['-H', `${name}: ${value}`]);
}

describe('webhook verify', () => {
  test('accepts the output of sign', async () => {
    const headers = await signed();
    expect(await webhook('verify', ...STRIPE, '-d', join(folder, 'a.json'), ...headers, ...AT)).toBe(0);
    expect(out).toContain('✓ verdict     the signature of the provider is valid');
  });

  test('explains the likely causes without the secret', async () => {
    const headers = await signed();
    expect(await webhook('verify', ...STRIPE, '-d', file('b.json', '{"a":1}\n'), ...headers, ...AT)).toBe(1);
    expect(out).toContain('the signature is valid for it without its trailing newline');
    expect(out).not.toContain('whsec_test');
    out = '';
    expect(
      await webhook(
        'verify',
        ...STRIPE,
        '-d',
        join(folder, 'a.json'),
        ...headers,
        '--at',
        '2027-06-01T12:11:00Z',
      ),
    ).toBe(1);
    expect(out).toContain('the timestamp is 11 min old, 6 min more than allowed');
  });

  test('reads a raw request, and a secret from a file', async () => {
    await webhook('sign', ...STRIPE, '--data', file('a.json', '{"a":1}'), ...AT);
    const raw = file('raw.http', `POST /hook HTTP/1.1\r\nHost: a.test\r\n${out.trimEnd()}\r\n\r\n{"a":1}`);
    out = '';
    expect(
      await webhook(
        'verify',
        '--provider',
        'stripe',
        '--secret-file',
        file('secret', 'whsec_test\n'),
        '--request',
        raw,
        ...AT,
      ),
    ).toBe(0);
    expect(await webhook('verify', ...STRIPE, '--request', file('no.http', 'nothing'), ...AT)).toBe(2);
    expect(err).toContain('does not contain an HTTP request');
  });

  test('reads the certificate of a notification from a file', async () => {
    await webhook(
      'sign',
      '--provider',
      'sns',
      '--secret-file',
      file('key.pem', RSA_PRIVATE_KEY),
      '-d',
      file('m.txt', 'Hello'),
      '--json',
      ...AT,
    );
    const { body } = JSON.parse(out) as { body: string };
    const sns = ['verify', '--provider', 'sns', '-d', file('m.json', body), ...AT];
    out = '';
    expect(await webhook(...sns)).toBe(1);
    expect(out).toContain('is needed');
    expect(await webhook(...sns, '--certificate', file('c.pem', RSA_CERTIFICATE))).toBe(0);
  });

  test('escapes control characters of a request', async () => {
    expect(await webhook('verify', ...STRIPE, '-H', 'Stripe-Signature: t=1,v1=\u001b[31mred', ...AT)).toBe(1);
    // oxlint-disable-next-line no-control-regex -- these are searched for
    expect(out).not.toMatch(/\u001b/);
  });
});

test('a curl command sends exactly the given bytes', () => {
  // A shell function instead of curl prints its arguments, then the standard input if it reads that.
  const shell = 'curl() { printf "%s\\0" "$@"; case "$*" in *@-) cat;; esac; }\n';
  fc.assert(
    fc.property(
      fc.oneof(fc.string(), fc.constantFrom('@file', "it's", '$HOME `id` \\', 'a\nb\n')),
      fc.uint8Array(),
      (text, bytes) => {
        for (const body of [Buffer.from(text, 'utf8'), Buffer.from(bytes)]) {
          const url = `https://a.test/?q=${text.replaceAll('\0', '')}`;
          const printed = execFileSync('sh', [
            '-c',
            shell + curlOf({ method: 'PUT', url, headers: ['X-A', "b'c"], body }),
          ]);
          const parts = printed.toString('latin1').split('\0');
          expect(parts.slice(0, 2)).toEqual(['-X', 'PUT']);
          expect(Buffer.from(parts[2]!, 'latin1').toString('utf8')).toBe(
            Buffer.from(url, 'utf8').toString('utf8'),
          );
          expect(parts.slice(3, 5)).toEqual(['-H', "X-A: b'c"]);
          const piped =
            parts[6] === '@-'
              ? printed.subarray(printed.indexOf('@-\0') + 3)
              : Buffer.from(parts[6] ?? '', 'latin1');
          expect(Buffer.from(piped).equals(body)).toBe(true);
        }
      },
    ),
    sized(60, 5),
  );
});

test.each([
  ['GET / HTTP/1.1\nHost: a.test\n\n', undefined, { method: 'GET', url: 'https://a.test/', body: '' }],
  [
    'POST https://b.test/x HTTP/2\r\n\r\na\r\n\r\nb',
    undefined,
    { method: 'POST', url: 'https://b.test/x', body: 'a\r\n\r\nb' },
  ],
  [
    'POST /x\nHost: a.test\n\nx\n',
    'http://c.test:8080/y',
    { method: 'POST', url: 'http://c.test:8080/y', body: 'x\n' },
  ],
] as const)('%j is parsed as a request', (text, url, wanted) => {
  const request = parseHttpRequest(Buffer.from(text), url)!;
  expect({ ...request, headers: undefined, body: Buffer.from(request.body).toString() }).toMatchObject(
    wanted,
  );
});
