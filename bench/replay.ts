import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createEdge } from '../src/edgeproof.ts';
import { replayedEdge } from '../src/replay/decide.ts';
import { logReader } from '../src/replay/read_log.ts';
import { replay } from '../src/replay/replay.ts';
import { ranCommand } from './command.ts';
import { type BenchSection, compare, render, row, sized } from './measure.ts';

/** Events of the run that measures memory; the goal is stated for 1,000,000. */
const EVENTS = Number(process.env['REPLAY_EVENTS'] ?? sized(1_000_000, 20_000));

const POLICY = {
  on_http_request: [
    {
      expressions: ["req.method == 'POST' && getReqHeader('x-lane').size() > 0"],
      actions: [{ type: 'deny', config: { status_code: 403 } }],
    },
    {
      expressions: ["req.url.path.startsWith('/admin')"],
      actions: [{ type: 'deny', config: { status_code: 404 } }],
    },
  ],
};
const CONFIG = {
  backends: { app: { static: { address: 'localhost:3000' } } },
  edges: {
    https: {
      shop: {
        hostports: ['shop.test:443'],
        routes: [
          {
            match_type: 'path_prefix',
            match: '/',
            backend: { backend_id: 'app' },
            traffic_policy: { value: JSON.stringify(POLICY) },
          },
        ],
      },
    },
  },
};
const AGENT =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0 Safari/537.36';

/** Lines of a log, all different. */
function* eventLines(count: number): Generator<string> {
  const edge = createEdge(CONFIG);
  for (let turn = 0; turn < count; turn++) {
    const { event } = edge.decide(
      {
        method: turn % 5 === 0 ? 'POST' : 'GET',
        url: `https://shop.test/${['api', 'admin', 'x'][turn % 3]}/items/${turn}?page=3`,
        headers: {
          accept: 'application/json',
          'user-agent': AGENT,
          'accept-encoding': 'gzip, br',
          'x-request-id': `request-${turn}`,
          cookie: 'a=b',
        },
      },
      { clientIp: `203.0.113.${turn % 250}` },
      {
        head: { status: 200, headers: ['content-type', 'application/json', 'content-length', '123'] },
        reused: true,
      },
    );
    yield JSON.stringify(event);
  }
}

/** Reading and deciding one event, compared with parsing its line, which every replay needs. */
export async function run(): Promise<BenchSection> {
  const lines = [...eventLines(1_000)];
  const bytes = lines.map((line) => Buffer.from(line));
  const { config } = createEdge(CONFIG);
  const running = replay(replayedEdge(config), null);
  const reader = logReader({ record: (observed) => running.take(observed), problem: running.problem });
  const medians = compare({
    ours: (turn) => reader.piece(bytes[turn % lines.length]!, turn + 1),
    'the bytes as text': (turn) => bytes[turn % lines.length]!.toString(),
    'JSON.parse alone': (turn) => JSON.parse(lines[turn % lines.length]!) as unknown,
  });
  const { unreadable } = running.summary();
  if (unreadable > 0) throw new Error('the log of the bench cannot be read');
  return {
    title: 'Replay, one event',
    floors: ['the bytes as text'],
    between: 'the values that a decision reads, the decision, and its comparison with the log',
    rows: [row('read, decide and compare', medians)],
    notes: [memoryNote()],
  };
}

/** The command itself over a long log, in a separate process. */
function memoryNote(): string {
  const folder = mkdtempSync(join(tmpdir(), 'edgeproof-bench-'));
  try {
    const log = openSync(join(folder, 'log.ndjson'), 'w');
    for (const line of eventLines(EVENTS)) writeSync(log, `${line}\n`);
    closeSync(log);
    writeFileSync(join(folder, 'edge.json'), JSON.stringify(CONFIG));
    const { ms, cpuMs, mib } = ranCommand(folder, [
      'replay',
      'log.ndjson',
      '-e',
      'edge.json',
      '--against',
      'edge.json',
    ]);
    const seconds = ms / 1_000;
    const rate = Math.round(EVENTS / seconds).toLocaleString('en');
    return (
      `${EVENTS.toLocaleString('en')} events on two configurations: ${seconds.toFixed(1)} s from start to end, ` +
      `${rate} events/s (goal 300,000), ${((cpuMs * 1_000) / EVENTS).toFixed(1)} µs of processor time an event, ` +
      `${mib.toFixed(0)} MiB at most (goal 300)`
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) process.stdout.write(render(await run()));
