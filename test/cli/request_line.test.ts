import { get } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { requestLine } from '../../src/cli/request_line.ts';
import { summaryOf } from '../../src/edge/explain.ts';
import { createEdge } from '../../src/edgeproof.ts';
import type { Fact } from '../../src/engine/contract.ts';
import type { EdgeOptions } from '../../src/index.ts';
import { oneRoute } from '../one_route.ts';

const edge = createEdge(
  oneRoute(
    { user_agent_filter: { deny: ['curl'] } },
    { backends: { app: { http_response: { status_code: 200 } } } },
  ),
);

const PLAIN = { color: false, named: (text: string) => text };

/** The line of a refused request, whose reason has these additional facts. */
function lineWith(detail: Readonly<Record<string, Fact>>): string {
  const request = { url: 'https://shop.test/a', headers: [['user-agent', 'curl/8']] } as const;
  const summary = summaryOf(edge.decide(request).exchange, () => null);
  const decidedBy = { ...summary.decidedBy, detail: { ...summary.decidedBy.detail, ...detail } };
  return requestLine({ ...summary, decidedBy }, { time: new Date(0), tookMs: 1 }, PLAIN);
}

it('contains the details of a refusal', () => {
  expect(lineWith({})).toMatch(/user_agent_filter\.denied deny\[0\]$/);
  expect(lineWith({ message: 'the token has expired' })).toMatch(/deny\[0\] {2}\(the token has expired\)$/);
  expect(lineWith({ message: 'a check has failed', detail: 'unexpected "exp"' })).toMatch(
    / {2}\(unexpected "exp"\)$/,
  );
  expect(lineWith({ problem: 'state_unknown', message: 'x' })).toMatch(/ {2}\(state_unknown\)$/);
});

it('says that a response is truncated', async () => {
  const upstream = createServer((socket) => {
    socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nabcd'));
  });
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void upstream.close());
  const { port } = upstream.address() as AddressInfo;
  const said = Promise.withResolvers<string>();
  const onCompleted: EdgeOptions['onCompleted'] = (summary) =>
    said.resolve(requestLine(summary, { time: new Date(0), tookMs: 1 }, PLAIN));
  const config = oneRoute({}, { backends: { app: { static: { address: `127.0.0.1:${port}` } } } });
  const listening = await createEdge(config, { onCompleted }).listen();
  onTestFinished(() => void listening.close(0));
  const request = get({ port: listening.port, headers: { host: 'shop.test' } }, (response) => {
    response.on('error', () => {}).resume();
  });
  request.on('error', () => {});
  expect(await said.promise).toMatch(/ {2}200 .* → app {2}response truncated$/);
});

it('escapes control characters, and truncates long parts', () => {
  expect(lineWith({ detail: '\u001b[31mred\r\n' })).toMatch(/ {2}\(\?\[31mred\?\?\)$/);
  expect(lineWith({ detail: 'x'.repeat(1_000) })).toMatch(/ \(x{120}\)$/);
});
