import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { fileURLToPath } from 'node:url';
import { type BenchSection, figure, sized } from './measure.ts';
import { draftMs } from './inspector/drafts.ts';

const EDGE = fileURLToPath(new URL('inspector/edge_process.ts', import.meta.url));
const RATE = 2_000;
const SLICE_MS = 500;
const ROUNDS = sized(15, 2);
/** Requests are sent this often, as many as are due. */
const TURN_MS = 5;

/** An edge without it. */
const NOTHING = { name: 'without', value: 0 };

interface Started {
  readonly child: ChildProcess;
  readonly port: number;
  readonly inspectorUrl: string | null;
}

/** What the inspector costs an edge, by the processor time of its process, in turns. */
export async function run(): Promise<BenchSection> {
  const nothing = await started('nothing');
  const events = await started('events');
  const closed = await started('inspector');
  const open = await started('inspector');
  const edges = [nothing, events, closed, open];
  const agent = new Agent({ keepAlive: true, maxSockets: 16 });
  try {
    const page = await openPage(open.inspectorUrl!);
    for (const edge of edges) await share(edge, agent);
    const rounds: number[][] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const shares: number[] = [];
      // Each goes first in turn.
      for (let turn = 0; turn < edges.length; turn++) {
        const at = (round + turn) % edges.length;
        shares[at] = await share(edges[at]!, agent);
      }
      rounds.push(shares);
    }
    const of = (at: number) => median(rounds.map((shares) => shares[at]!));
    const more = (at: number, than: number) => median(rounds.map((shares) => shares[at]! - shares[than]!));
    const draft = await draftMs(false);
    const explained = await draftMs(true);
    return {
      title: 'The inspector',
      between:
        'an event for each request; with the inspector a copy of heads and trace, and with a page its row as JSON',
      rows: [
        figure('an edge that nothing observes', rounded(of(0)), '% of a core'),
        figure('a listener of events adds', rounded(more(1, 0)), '% of a core', NOTHING),
        figure('the inspector without a page adds to that', rounded(more(2, 1)), '% of a core', NOTHING),
        figure('the inspector with a page adds to that', rounded(more(3, 1)), '% of a core', NOTHING),
        figure('rows that the page got', page.rows(), 'rows'),
        figure('a draft of a policy for 500 requests, after the first', rounded(draft), 'ms of CPU'),
        figure('with the explanation of one', rounded(explained), 'ms of CPU'),
      ],
      notes: [
        `${RATE} requests a second through a policy to an upstream of the same process; medians of ${ROUNDS} rounds, in which the edges took turns.`,
      ],
    };
  } finally {
    agent.destroy();
    for (const { child } of edges) child.kill('SIGKILL');
  }
}

const rounded = (value: number): number => Math.round(value * 10) / 10;

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[values.length >> 1]!;
}

async function started(observer: 'nothing' | 'events' | 'inspector'): Promise<Started> {
  const child = fork(EDGE, [observer], { stdio: 'inherit' });
  const [ports] = (await once(child, 'message')) as [Omit<Started, 'child'>];
  return { child, ...ports };
}

async function cpuOf({ child }: Started): Promise<number> {
  child.send('cpu');
  const [{ user, system }] = (await once(child, 'message')) as [NodeJS.CpuUsage];
  return (user + system) / 1_000;
}

/** The processor time of a process for one slice of requests, in percent of the time that they take at the rate. */
async function share(edge: Started, agent: Agent): Promise<number> {
  const total = (RATE * SLICE_MS) / 1_000;
  const before = await cpuOf(edge);
  const began = performance.now();
  const all: Promise<void>[] = [];
  while (all.length < total) {
    const due = Math.min(total, Math.ceil(((performance.now() - began) * RATE) / 1_000));
    while (all.length < due) all.push(get(edge.port, `/items/${all.length}?page=2`, agent));
    await new Promise((resolve) => void setTimeout(resolve, TURN_MS));
  }
  await Promise.all(all);
  // On a busy machine the slice takes longer; the work is that of the rate.
  return ((await cpuOf(edge)) - before) / (SLICE_MS / 100);
}

function get(port: number, path: string, agent: Agent): Promise<void> {
  const headers = { host: 'app.test', 'user-agent': 'bench', accept: '*/*', cookie: 'session=abcdef' };
  return new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port, path, headers, agent }, (response) => {
      response.resume().once('end', resolve);
    })
      .once('error', reject)
      .end();
  });
}

/** Reads the feed as a page does. */
function openPage(url: string): Promise<{ readonly rows: () => number }> {
  const { origin, hash } = new URL(url);
  const headers = { authorization: `Bearer ${hash.slice('#token='.length)}` };
  let rows = 0;
  return new Promise((resolve, reject) => {
    request(`${origin}/api/feed`, { headers }, (response) => {
      response.setEncoding('latin1').on('data', (text: string) => {
        rows += text.split('"kind":"exchange"').length - 1;
      });
      response.once('error', () => undefined);
      resolve({ rows: () => rows });
    })
      .once('error', reject)
      .end();
  });
}
