import { expect, test } from 'vitest';
import type { Detail } from '../../src/inspector/wire_detail.ts';
import type { SearchAnswer } from '../../src/inspector/wire.ts';
import { application, edgeTo, inspected, plain } from './inspected.ts';

const MARKUP = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  "'-alert(1)-'",
  'javascript:alert(1)',
  '<svg/onload=alert(1)>',
  '{{constructor.constructor("alert(1)")()}}',
  '</title></textarea></style><script>1</script>',
  '\u202Egnp.exe\u202C',
  '\u2066\u2069\u200F',
  '\u001B[2J\u001B]0;title\u0007',
  '\u0000\u0008\u007F',
  'data: x\n\ndata: {"type":"end"}\n\n',
  '\u2028\u2029',
  '\uD800',
  '__proto__',
  'constructor',
  '%00%ff%fe',
  '${7*7}',
  '[redacted]',
  '\\"\\u003cscript\\u003e',
];

/** 200 bodies: each text in five shapes, with types that browsers run and with types that they do not. */
const PAYLOADS = MARKUP.flatMap((text) =>
  ['text/html', 'image/svg+xml', 'application/json', 'text/event-stream', 'application/grpc'].flatMap(
    (type) => [
      { type, body: text },
      { type, body: `${'{"a":['.repeat(2_000)}${JSON.stringify(text)}` },
    ],
  ),
);

test('200 hostile payloads are data: valid JSON, bounded, never a page', async () => {
  let next = PAYLOADS[0]!;
  const { address } = await application(() => ({
    headers: { 'content-type': next.type, 'x-own': encodeURIComponent(next.type) },
    body: next.body,
  }));
  const { send, ok, feed, port, token } = await inspected(edgeTo(address), {
    limits: { bodyLimitBytes: 4_096, limitBytes: 4_000_000 },
  });
  const reader = await feed();
  expect(PAYLOADS).toHaveLength(200);
  for (const payload of PAYLOADS) {
    next = payload;
    const target = `/${encodeURIComponent(payload.body.slice(0, 40).toWellFormed())}?q=${encodeURIComponent(payload.body.slice(0, 40).toWellFormed())}`;
    await send(target, {
      method: 'POST',
      headers: [
        'host',
        'app.test',
        'content-type',
        payload.type,
        'x-text',
        Buffer.from(payload.body.slice(0, 100).replaceAll(/[\r\n\0]/g, ' '))
          .toString('latin1')
          .replaceAll(/[^\t\x20-\x7e\x80-\xff]/g, '?'),
        'content-length',
        String(Buffer.byteLength(payload.body)),
      ],
      body: payload.body,
    });
  }
  await reader.until(
    ({ rows }) =>
      new Set(rows.flatMap(({ seq, state }) => (state === 'done' ? [seq] : []))).size === PAYLOADS.length,
  );
  expect(reader.events.every(({ type }) => ['rows', 'stats'].includes(type))).toBe(true);
  const { rows } = await ok<SearchAnswer>('POST', '/api/search', { limit: 500 });
  expect(rows).toHaveLength(PAYLOADS.length);
  for (const { seq } of rows) {
    const path = `/api/exchanges/${seq}`;
    const { status, text, headers } = await plain(port, path, {
      headers: ['host', `127.0.0.1:${port}`, 'authorization', `Bearer ${token}`],
    });
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'x-content-type-options': 'nosniff',
    });
    const detail = JSON.parse(text) as Detail;
    expect(detail.kind).toBe('exchange');
    expect(text.length).toBeLessThan(60_000);
    for (const as of ['curl', 'har', 'case']) await ok('GET', `${path}/copy?as=${as}`);
  }
  const { kept } = await ok<{ kept: { bytes: number } }>('GET', '/api/hello');
  expect(kept.bytes).toBeLessThanOrEqual(4_000_000);
});
