import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import type { Overview } from '../../src/inspector/wire_overview.ts';
import type { FileText } from '../../src/inspector/wire_editing.ts';
import type { ExchangeRow, RevisionDiff, SearchAnswer } from '../../src/inspector/wire.ts';
import type { ExchangeDetail } from '../../src/inspector/wire_detail.ts';
import { application, edgeTo, inspected } from './inspected.ts';

test('a file is written only if it is what the page has read', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'edgeproof-inspector-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'edge.yaml');
  const { address } = await application(() => ({ body: 'ok' }));
  writeFileSync(file, 'edges: {}\nbackends: {}\n');
  const { ok, api, edge } = await inspected(edgeTo(address), { files: { names: () => [file] } });
  const { files } = await ok<{ files: FileText[] }>('GET', '/api/files');
  expect(files).toMatchObject([{ name: file, kind: 'edge', writable: true }]);
  const { hash } = files[0]!;
  const text = 'edges: {}\nbackends: {a: 1}\n';
  const other = { name: join(folder, 'other'), text, expected: hash };
  expect((await api('PUT', '/api/files', other)).status).toBe(404);
  const written = await ok<FileText>('PUT', '/api/files', { name: file, text, expected: hash });
  expect(readFileSync(file, 'utf8')).toBe(text);
  expect(written.hash).not.toBe(hash);
  expect((await api('PUT', '/api/files', { name: file, text: '', expected: hash })).status).toBe(409);
  expect(readFileSync(file, 'utf8')).toBe(text);
  edge.swap(edgeTo(address, { compression: { enabled: true } }));
  const diff = await ok<RevisionDiff>('GET', '/api/revisions/2');
  expect(diff.changedFiles).toEqual([file]);
  expect(diff.files[0]!.lines).toEqual([
    { change: 'same', at: 1, text: 'edges: {}' },
    { change: 'removed', at: 2, text: 'backends: {}' },
    { change: 'added', at: 2, text: 'backends: {a: 1}' },
  ]);
});

test('secrets of a file are as they are in its text, so that saving keeps them; key files are not sent', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'edgeproof-inspector-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const [file, key] = [join(folder, 'edge.yaml'), join(folder, 'webhook.key')];
  const { address } = await application(() => ({ body: 'ok' }));
  const config = edgeTo(address, {
    webhook_verification: { provider: 'stripe', secret: 'whsec_inline-secret' },
  });
  writeFileSync(file, JSON.stringify(config));
  writeFileSync(key, 'another-secret');
  const { ok, api, send } = await inspected(config, { files: { names: () => [file, key] } });
  await send('/', { headers: ['host', 'app.test', 'x-note', 'whsec_inline-secret'] });
  const [row] = (await ok<SearchAnswer>('POST', '/api/search', {})).rows as ExchangeRow[];
  const detail = await ok<ExchangeDetail>('GET', `/api/exchanges/${row!.seq}`);
  expect(JSON.stringify(detail)).not.toContain('whsec_inline-secret');
  const { files } = await ok<{ files: FileText[] }>('GET', '/api/files');
  expect(files.map(({ name }) => name)).toEqual([file]);
  const [{ text, hash }] = files as [FileText];
  await ok('PUT', '/api/files', { name: file, text: text.replace('app.test', 'web.test'), expected: hash });
  expect(readFileSync(file, 'utf8')).toContain('whsec_inline-secret');
  const refused = await api('PUT', '/api/files', { name: key, text: '', expected: hash });
  expect(refused.status).toBe(404);
});

test('the messages of a WebSocket are kept in both directions, compressed ones as they were before', async () => {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: { threshold: 0 } });
  onTestFinished(() => server.close());
  await new Promise<void>((resolve) => void server.once('listening', () => resolve()));
  server.on('connection', (socket) => {
    socket.on('message', (data, isBinary) =>
      socket.send(isBinary ? data : `echo ${(data as Buffer).toString()}`, { binary: isBinary }),
    );
  });
  const { port } = server.address() as { port: number };
  const { ok, listening, feed } = await inspected(edgeTo(`127.0.0.1:${port}`));
  const reader = await feed();
  const client = new WebSocket(`ws://127.0.0.1:${listening.port}/chat`, {
    headers: { host: 'app.test' },
    perMessageDeflate: { threshold: 0 },
  });
  await new Promise<void>((resolve, reject) => {
    client.once('open', () => resolve());
    client.once('error', reject);
  });
  const echoed = async (data: string | Buffer): Promise<void> => {
    client.send(data);
    await new Promise<void>((resolve) => void client.once('message', () => resolve()));
  };
  await echoed('hello hello hello');
  await echoed('hello hello hello');
  await echoed(Buffer.from([255, 254, 0]));
  client.close();
  await reader.until(({ rows }) =>
    rows.some(({ state, protocol }) => state === 'done' && protocol === 'websocket'),
  );
  const { frames } = await ok<ExchangeDetail>('GET', `/api/exchanges/${reader.rows.at(-1)!.seq}`);
  expect(frames).toMatchObject({ kind: 'websocket', dropped: 0 });
  const said = frames!.list.filter(({ type }) => type !== 'close');
  expect(said.map(({ from, type, text, base64 }) => [from, type, text ?? base64])).toEqual([
    ['client', 'text', 'hello hello hello'],
    ['upstream', 'text', 'echo hello hello hello'],
    ['client', 'text', 'hello hello hello'],
    ['upstream', 'text', 'echo hello hello hello'],
    ['client', 'binary', '//4A'],
    ['upstream', 'binary', '//4A'],
  ]);
});

test('the events of a stream and the figures of the overview', async () => {
  const { address } = await application(({ url }) =>
    url === '/events'
      ? {
          headers: { 'content-type': 'text/event-stream' },
          body: 'event: tick\ndata: 1\n\n: note\n\ndata: a\ndata: b\n\n',
        }
      : { status: 500, body: 'bad' },
  );
  const breaker = {
    circuit_breaker: { volume_threshold: 2, error_threshold_percentage: 0.5, tripped_duration: 60 },
  };
  const { send, ok } = await inspected(edgeTo(address, breaker));
  await send('/events');
  const { rows } = await ok<SearchAnswer>('POST', '/api/search', {});
  const { frames } = await ok<ExchangeDetail>('GET', `/api/exchanges/${rows[0]!.seq}`);
  expect(frames!.list.map(({ type, text }) => [type, text])).toEqual([
    ['tick', '1'],
    ['comment', ': note'],
    ['message', 'a\nb'],
  ]);
  for (let at = 0; at < 6; at++) await send('/bad');
  const overview = await ok<Overview>('GET', '/api/overview');
  expect(overview.routes).toMatchObject([{ edge: 'main', match: '/', hits: 7, backends: ['app'] }]);
  expect(overview.backends).toMatchObject([{ id: 'app', addresses: [address], health: 'up' }]);
  expect(overview.states[0]!.changes.map(({ verdict }) => verdict)).toEqual(['pass', 'stop']);
  expect(overview.stops[0]).toMatchObject({ by: 'circuit_breaker' });
  expect(overview.latency!.p50Ms).toBeGreaterThan(0);
});
