import { writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { replayedEdge } from '../../src/replay/decide.ts';
import { readRecording } from '../../src/replay/read_recording.ts';
import { type RecordedExchange, recordingHead } from '../../src/replay/recording.ts';
import { recordingSink } from '../../src/replay/recording_sink.ts';
import { replay } from '../../src/replay/replay.ts';
import { replayText } from '../../src/replay/report_replay.ts';
import { usable } from '../../src/edgeproof.ts';
import { checkWholeEdge } from '../../src/edge/semantic_checks.ts';
import { edgeproof } from '../cli/command.ts';
import { folderWith } from '../folder.ts';
import { edgeWithAgents } from './agent.ts';
import { AUTH, CALL, afterHead, bindOf, handmadeAgent } from './handmade_agent.ts';

const route = (rest: object) => ({ match_type: 'path_prefix', match: '/', ...rest });
const forwards = (url: string) => ({
  value: JSON.stringify({ on_http_request: [{ actions: [{ type: 'forward-internal', config: { url } }] }] }),
});
const own = { hello: { http_response: { status_code: 200, body: 'hello' } } };
const edge = (hosts: Readonly<Record<string, object>>) => ({
  service_name: 'ngrok',
  backends: own,
  edges: {
    https: Object.fromEntries(
      Object.entries(hosts).map(([host, rest]) => [
        host.replaceAll('.', '_'),
        { hostports: [`${host}:443`], routes: [route(rest)] },
      ]),
    ),
  },
});
const OWN = { 'own.test': { backend: { backend_id: 'hello' } } };
const FILE = edge({ ...OWN, 'inner.test': { traffic_policy: forwards('https://app.internal') } });

const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';

/** Requests to endpoints of an agent and to edges of the file, as they are recorded. */
async function recorded(): Promise<RecordedExchange[]> {
  const lines: RecordedExchange[] = [];
  const sink = recordingSink((line) => void lines.push(line), 65_536);
  const { agents, listening } = await edgeWithAgents(FILE, {}, { recordingSink: sink });
  const agent = handmadeAgent(agents, (stream) => afterHead(stream, () => stream.write(OK)));
  await agent.call(CALL.auth, AUTH);
  for (const host of ['app.localhost', '*.wild.localhost', 'app.internal'])
    await agent.call(CALL.bind, bindOf(host));
  const get = (host: string): Promise<number> =>
    new Promise((resolve, reject) => {
      request(listening.url, { headers: { host }, agent: false }, (response) =>
        response.resume().on('end', () => resolve(response.statusCode!)),
      )
        .on('error', reject)
        .end();
    });
  const hosts = ['app.localhost', 'a.wild.localhost', 'inner.test', 'own.test', 'none.test'];
  const statuses: number[] = [];
  for (const host of hosts) statuses.push(await get(host));
  expect(statuses).toEqual([200, 200, 200, 200, 404]);
  await expect.poll(() => lines.length).toBe(hosts.length);
  return JSON.parse(JSON.stringify(lines)) as RecordedExchange[];
}

function replayedOn(config: object, lines: readonly RecordedExchange[]) {
  const running = replay(replayedEdge(usable(checkWholeEdge({ value: config })).config), null);
  for (const [at, line] of lines.entries()) {
    const record = readRecording(line, at + 2);
    if ('problem' in record) throw new Error(record.problem);
    running.take(record);
  }
  return running.summary();
}

test('records of endpoints of agents are skipped, and counted by their URL, where the file has no such host', async () => {
  const lines = await recorded();
  const summary = replayedOn(FILE, lines);
  expect(summary).toMatchObject({ records: 2, same: 2, changed: 0, unknown: 0, skipped: 3 });
  const text = replayText(summary, () => null);
  for (const host of ['app.localhost', '*.wild.localhost', 'app.internal'])
    expect(text).toContain(`https://${host} was the endpoint of an agent: the edge file has no such host`);
  expect(text).toContain('2 records: 0 changed, 0 unknown, 2 same; 3 records skipped');
  // A file with the host of the endpoint is judged.
  const moved = edge({ ...OWN, 'app.localhost': { backend: { backend_id: 'hello' } } });
  expect(replayedOn(moved, lines)).toMatchObject({ records: 3, changed: 1, skipped: 2 });

  const folder = folderWith({ 'edge.yaml': JSON.stringify(FILE) });
  const head = recordingHead(0, [], 65_536);
  const log = join(folder, 'log.ndjson');
  writeFileSync(
    log,
    [head, ...lines.map((exchange) => ({ exchange }))].map((each) => JSON.stringify(each)).join('\n'),
  );
  const converted = await edgeproof(['record', 'edge.yaml', '--from', log, '--to', 'scenario'], folder);
  expect(converted.stderr).toContain(
    '1 record skipped: https://app.localhost was the endpoint of an agent, and',
  );
  expect(converted.stdout.match(/^ {2}- name:/gm)).toHaveLength(2);
});
