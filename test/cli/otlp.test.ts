import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { type Received, startDouble } from '../events/destinations/doubles.ts';
import { decodedLogs, decodedSpans } from '../events/destinations/otlp_decoder.ts';
import { edgeproof, start } from './command.ts';

/** `--otlp`: what an operator gives, and what a receiver gets. */

const open: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await close();
});

function folderWith(file: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'edgeproof-otlp-'));
  open.push(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'edge.yaml'), file);
  return folder;
}

const EDGE = `
service_name: shop
backends: { app: { http_response: { status_code: 200, body: hello } } }
edges:
  https:
    shop:
      hostports: ["shop.test:443"]
      routes: [{ match_type: path_prefix, match: /, backend: { backend_id: app } }]
`;

it('sends a log and a trace of each request before it ends, and shows no key', async () => {
  const requests: Received[] = [];
  const double = await startDouble((received) => {
    requests.push(received);
    return { status: 200, body: '' };
  });
  open.push(double.close);
  const folder = folderWith(EDGE);
  const running = start(['dev', 'edge.yaml', '--port', '0', '--otlp', double.url], folder, {
    OTEL_EXPORTER_OTLP_HEADERS: 'x-key=s%3Decret,x-other=1',
  });
  open.push(() => running.process.kill('SIGKILL'));
  const [, url] = await running.waitFor(/ready in \d+ ms {2}(http:\S+)/);
  const send = async () => (await fetch(`${url}/a`, { headers: { host: 'shop.test' } })).text();
  const of = (path: string) => requests.filter((each) => each.path === path).map(({ decoded }) => decoded);
  // A stop waits a second: a slow machine may take longer for the first events, which load code and connect.
  expect(await send()).toBe('hello');
  await expect.poll(() => of('/v1/traces').length).toBe(1);
  await expect.poll(() => of('/v1/logs').length).toBe(1);
  requests.splice(0);
  expect(await send()).toBe('hello');
  expect(await running.stop('SIGTERM')).toBe(0);
  const spans = of('/v1/traces').flatMap(decodedSpans);
  expect(spans.map(({ name }) => name)).toEqual(['GET /', expect.stringMatching(/^decide /)]);
  const logs = of('/v1/logs').flatMap(decodedLogs);
  const named = (name: string) => logs.flatMap((log) => (log.eventName === name ? [log.traceId] : []));
  expect(named('http_request_complete.v0')).toEqual([spans[0]!.traceId]);
  // One, unless the client has given up its first connection meanwhile.
  expect(new Set(named('tcp_connection_closed.v0'))).toEqual(new Set([undefined]));
  const keys = requests.map(({ headers }) => `${headers['x-key']} ${headers['x-other']}`);
  expect(new Set(keys)).toEqual(new Set(['s=ecret 1']));
  expect(running.output()).not.toContain('ecret');
});

it('says that the receiver does not answer, and how many events were not sent', async () => {
  const folder = folderWith(EDGE);
  const double = await startDouble(() => ({ status: 200 }));
  double.close();
  const running = start(['dev', 'edge.yaml', '--port', '0', '--otlp', double.url], folder);
  open.push(() => running.process.kill('SIGKILL'));
  const [, url] = await running.waitFor(/ready in \d+ ms {2}(http:\S+)/);
  await (await fetch(`${url}/a`, { headers: { host: 'shop.test' } })).text();
  await running.waitFor(/sending by OTLP failed; events wait in memory: .*ECONNREFUSED/);
  expect(await running.stop('SIGTERM')).toBe(0);
  expect(running.output()).toMatch(/2 events were not sent by OTLP/);
});

it.each([[['--otlp', 'localhost:4318'], /expected a URL such as/]])(
  '%j is refused',
  async (args, message) => {
    const { code, stderr } = await edgeproof(['dev', 'edge.yaml', ...args], folderWith(EDGE));
    expect([code, stderr]).toEqual([2, expect.stringMatching(message)]);
  },
);

it.each([
  ['x-key=a%0Ab', 'the value of x-key in OTEL_EXPORTER_OTLP_HEADERS has a line break or another character'],
  [
    'x-key=%E2%82%AC',
    'the value of x-key in OTEL_EXPORTER_OTLP_HEADERS has a line break or another character',
  ],
  ['x-key=100%', 'the value of x-key in OTEL_EXPORTER_OTLP_HEADERS must be percent-encoded'],
  ['Content-Length=5', 'OTEL_EXPORTER_OTLP_HEADERS must not set content-length'],
  ['x-key', 'OTEL_EXPORTER_OTLP_HEADERS must be name=value pairs'],
])('headers %j are refused at the start', async (headers, message) => {
  const words = ['dev', 'edge.yaml', '--port', '0', '--otlp', 'http://127.0.0.1:1'];
  const ran = await edgeproof(words, folderWith(EDGE), { OTEL_EXPORTER_OTLP_HEADERS: headers });
  expect(ran.code).toBe(2);
  expect(ran.stderr).toContain(message);
});
