import { once } from 'node:events';
import { type IncomingMessage, createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EdgeConfig } from '../../src/edge/document/schema.ts';
import { createEdge } from '../../src/index.ts';
import { replayedEdge } from '../../src/replay/decide.ts';
import { readRecording } from '../../src/replay/read_recording.ts';
import type { RecordedExchange } from '../../src/replay/recording.ts';
import { recordingSink } from '../../src/replay/recording_sink.ts';
import { redactExchange } from '../../src/replay/redact.ts';
import { redaction } from '../../src/replay/redaction.ts';
import { replay } from '../../src/replay/replay.ts';
import { FIXTURE_EDGES, nearby } from '../fixture_edges.ts';

const REQUESTS: readonly { readonly method?: string; readonly headers?: object; readonly body?: string }[] = [
  {},
  { headers: { 'user-agent': 'curl/8', 'accept-encoding': 'gzip', 'x-lane': 'Blue' } },
  { method: 'HEAD' },
  { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"hello":"world"}' },
  { headers: { authorization: 'Basic YWxpY2U6c2VjcmV0', cookie: 'a=b' } },
];

describe('a recording replayed on the file that made it', () => {
  const upstream = createServer((message, response) => {
    message.resume().on('end', () => {
      response.writeHead(200, { 'content-type': 'text/plain', etag: '"1"' });
      response.end(`hello ${'world '.repeat(100)}`);
    });
  });
  let address: string;
  beforeAll(async () => {
    upstream.listen(0, '127.0.0.1');
    await once(upstream, 'listening');
    address = `127.0.0.1:${(upstream.address() as AddressInfo).port}`;
  });
  afterAll(() => void upstream.close());

  async function recordingOf(config: EdgeConfig): Promise<RecordedExchange[]> {
    const lines: RecordedExchange[] = [];
    const rules = redaction([], config);
    const sink = recordingSink((line) => lines.push(redactExchange(line, rules)), 65_536);
    const edge = createEdge(config, { recordingSink: sink });
    const listening = await edge.listen({});
    const places = Object.values(config.edges.https).flatMap(({ hostports, routes }) =>
      hostports.flatMap((hostport) => {
        const host = hostport.replace(/:\d+$/, '').replace('*', 'any');
        return [
          ...new Set(['/none', ...routes.map(({ match }) => match.slice(Math.max(0, match.indexOf('/'))))]),
        ].map((path) => ({ host, path }));
      }),
    );
    for (const { host, path } of places) {
      for (const { method = 'GET', headers = {}, body } of REQUESTS) {
        const asked = httpRequest(`${listening.url}${path}`, {
          method,
          headers: { ...headers, host },
          agent: false,
        });
        asked.end(body);
        const answered = await Promise.race([
          once(asked, 'response').then(([response]) => response as IncomingMessage),
          once(asked, 'error').then(() => null),
        ]).catch(() => null);
        if (answered !== null) await buffer(answered).catch(() => null);
      }
    }
    await listening.close(0);
    return JSON.parse(JSON.stringify(lines)) as RecordedExchange[];
  }

  it.each(Object.keys(FIXTURE_EDGES))('is SAME: %s', async (name) => {
    const config = nearby(FIXTURE_EDGES[name]!(), address);
    const lines = await recordingOf(config);
    expect(lines.length).toBeGreaterThanOrEqual(REQUESTS.length);
    const [alone, against] = [null, replayedEdge(config)].map((current) => {
      const running = replay(replayedEdge(config), current);
      for (const [at, line] of lines.entries()) {
        const record = readRecording(line, at + 1);
        if ('problem' in record) throw new Error(record.problem);
        running.take(record);
      }
      return running.summary();
    });
    expect(against).toMatchObject({ records: lines.length, same: lines.length });
    const changed = alone!.groups.filter(({ finding }) => finding === 'changed');
    expect(changed.map(({ cause, examples }) => `${cause}: ${examples[0]!.request}`)).toEqual([]);
    // Only redacted values and answers of providers may be unknown.
    const unknown = alone!.groups.filter(({ finding }) => finding === 'unknown');
    expect(
      unknown
        .map(({ cause }) => cause)
        .filter((cause) => !/^(?:value|answer) of |^session$|counters/.test(cause)),
    ).toEqual([]);
  });
});
