import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { type CurlRequest, readCurl } from '../../src/simulator/document/curl.ts';

const FORM = ['content-type', 'application/x-www-form-urlencoded'];

// What people copy: from documentation, from terminals, and from the tools of browsers.
test.each<[string, Partial<CurlRequest> | { problem: string }]>([
  [
    String.raw`curl $'https://shop.test/a\u0021\x41\101' -H $'x: it\'s'`,
    { url: 'https://shop.test/a!AA', headers: [['x', "it's"]] },
  ],
  [
    String.raw`curl https://x/ --data-raw $'a\nb\tc\\'`,
    { body: 'a\nb\tc\\', headers: [['content-type', FORM[1]!]] },
  ],
  [
    "curl 'https://x/' \\\r\n  -H 'a: b' \\\n  --data-binary '{\n  \"a\": 1\n}'",
    { body: '{\n  "a": 1\n}', method: 'POST' },
  ],
  ["curl https://x/ --data-binary 'a\\\nb'", { body: 'a\\\nb' }],
  ["curl -H 'x-empty;' -H 'accept:' https://x/", { headers: [['x-empty', '']] }],
  ['curl -so/dev/null -w "%{http_code}" https://x/', { url: 'https://x/', headers: [] }],
  ['curl https://x/?a=1 | jq .', { url: 'https://x/?a=1' }],
  ['curl https://x/ > out.txt', { url: 'https://x/' }],
  ['curl https://x/ && echo', { url: 'https://x/' }],
  ['curl https://x/?a=1&b=2#part', { url: 'https://x/?a=1&b=2' }],
  ['curl https://me:p%40w@x/a', { url: 'https://x/a', headers: [['authorization', 'Basic bWU6cEB3']] }],
  ['curl https://x/@a', { url: 'https://x/@a', headers: [] }],
  ['curl --oauth2-bearer t1 https://x/', { headers: [['authorization', 'Bearer t1']] }],
  [`curl --json '{"a":' --json 1} https://x/`, { body: '{"a":1}' }],
  [
    "curl --data-urlencode 'q=a b&c' --data-urlencode '=é!' -d x=1 https://x/",
    { body: 'q=a+b%26c&%C3%A9%21&x=1' },
  ],
  ["curl -G --data-urlencode 'q=a b' https://x/", { method: 'GET', url: 'https://x/?q=a+b', body: null }],
  [
    'curl -b cookies.txt https://x/',
    { problem: '-b cookies.txt reads a file; write its cookies as `name=value`' },
  ],
  ['curl -F file=@a.png https://x/', { problem: '-F file=@a.png reads a file; write its content' }],
  ['curl -F a=1 -d b=2 https://x/', { problem: '-F and -d cannot be used together' }],
  [
    'curl --data-urlencode a@b https://x/',
    { problem: '--data-urlencode a@b reads a file; write its content' },
  ],
  [String.raw`curl $'https://x/\'`, { problem: 'a quote is not closed' }],
])('reads %j', (line, expected) => {
  expect(readCurl(line)).toMatchObject(expected);
});

test('a form has parts, which no value can end', () => {
  const read = readCurl(
    "curl -F 'a=1;type=text/plain' --form-string 'b=@------------------------edgeproof' https://x/",
  ) as CurlRequest;
  const boundary = '------------------------edgeproof-';
  expect(read.headers).toEqual([['content-type', `multipart/form-data; boundary=${boundary}`]]);
  expect(read.body!.split('\r\n')).toEqual([
    `--${boundary}`,
    'content-disposition: form-data; name="a"',
    'content-type: text/plain',
    '',
    '1',
    `--${boundary}`,
    'content-disposition: form-data; name="b"',
    '',
    '@------------------------edgeproof',
    `--${boundary}--`,
    '',
  ]);
});

const version = await promisify(execFile)('curl', ['--version']).then(
  () => true,
  () => false,
);

// The other implementation: curl itself, in a shell, when there is one.
test.skipIf(!version)('curl sends the same', async () => {
  const got: { method: string; target: string; headers: NodeJS.Dict<string | string[]>; body: string }[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => (body += text));
    request.once('end', () => {
      got.push({ method: request.method!, target: request.url!, headers: request.headers, body });
      response.end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  try {
    for (const rest of [
      String.raw`/a\?b --data-raw $'a\n\u0021\x42' -H $'x: it\'s'`,
      "/ --data-urlencode 'q=a b&c~-._é' --data-urlencode '=*()'",
      "/ -G -d a=1 --data-urlencode 'b=1 2'",
      "/ --json '{' --json '}'",
      "/ -H 'x-empty;' -u me:",
      `'/#part' -b 'a=1; b=2' -X DELETE`,
    ]) {
      const line = `curl -s ${origin}${rest.startsWith("'") ? `/${rest.replace(/^'\//, "'")}` : rest}`;
      await promisify(execFile)('bash', ['-c', line]);
      const read = readCurl(line) as CurlRequest;
      const sent = got.at(-1)!;
      const { pathname, search } = new URL(read.url);
      expect({ method: read.method, target: pathname + search, body: read.body ?? '' }).toEqual({
        method: sent.method,
        target: sent.target,
        body: sent.body,
      });
      for (const [name, value] of read.headers)
        expect([name, sent.headers[name.toLowerCase()]]).toEqual([name, value]);
    }
  } finally {
    server.close();
  }
});
