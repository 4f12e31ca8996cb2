import { mkdtempSync, rmSync } from 'node:fs';
import { type Socket, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { localAuthority, serverCertificate } from '../src/cli/local_authority.ts';
import {
  type AgentOrder,
  type CpuStats,
  type EdgePorts,
  type EdgeStats,
  type FarEnd,
  type Helper,
  helper,
} from './agents/processes.ts';
import { HOST } from './ingress/everything_on.ts';
import { load, missingPrograms } from './ingress/load.ts';
import { loadSockets } from './ingress/surroundings.ts';
import { WORKLOADS } from './ingress/workloads.ts';
import { type BenchRow, type BenchSection, render, sized } from './measure.ts';

const GET = WORKLOADS.find(({ id }) => id === 'get_1k')!;
const CONNECTIONS = 48;
const SECONDS = sized(3, 1);
const ROUNDS = sized(3, 1);
/** Transfers take turns with those of the relay, and are compared in pairs: the machine is seldom quiet. */
const BULK_ROUNDS = sized(7, 1);
const BULK_BYTES = 256 * 2 ** 20;
const IDLE_SESSIONS = 1_000;
const TCP = '1.tcp.test:5432';
const LABELS = { app: 'bench' };
const GOALS = { perSecond: 8_000, bulk: 0.7, idleMiB: 60 } as const;

const CONFIG = {
  backends: { agents: { tunnel_group: { labels: LABELS } } },
  edges: {
    https: {
      site: {
        hostports: [`${HOST}:443`],
        routes: [{ match_type: 'path_prefix', match: '/', backend: { backend_id: 'agents' } }],
      },
    },
    tcp: { bulk: { hostports: [TCP], backend: { backend_id: 'agents' } } },
  },
};

type Edge = Helper<EdgePorts>;

interface Place {
  readonly folder: string;
  readonly caFile: string;
  /** The library that is preloaded into wrk. */
  readonly sockets: string;
  /** Of the bare TLS server. */
  readonly pair: { readonly cert: string; readonly key: string };
}

const median = (values: readonly number[]): number =>
  values.toSorted((one, other) => one - other)[values.length >> 1]!;
const stats = (edge: Edge): Promise<EdgeStats> => edge.ask({ what: 'stats' });
const cpuMs = async (of: Helper<unknown>): Promise<number> => (await of.ask<CpuStats>({ what: 'cpu' })).cpuMs;

/** An edge whose agents have started their tunnels. */
async function withAgents<Result>(
  place: Place,
  order: Pick<AgentOrder, 'kind' | 'sessions' | 'labels'>,
  measure: (edge: Edge, far: Helper<FarEnd>) => Promise<Result>,
): Promise<Result> {
  const settings = { config: CONFIG, tcp: TCP, folder: place.folder };
  const edge = await helper<EdgePorts>('edge_process.ts', settings, ['--expose-gc']);
  const far = await helper<FarEnd>('agent_process.ts', place.pair);
  try {
    const { agents: port, ca } = edge.first;
    await far.ask({ ...order, port, ca, caFile: place.caFile } satisfies AgentOrder);
    return await measure(edge, far);
  } finally {
    await Promise.all([far.stop(), edge.stop()]);
  }
}

interface Figures {
  readonly perSecond: number;
  readonly p99: number;
  readonly cpuMicros: number;
}

function loadOptions({ sockets, folder }: Place) {
  return { core: null, connections: CONNECTIONS, seconds: SECONDS, sockets, folder };
}

/** Requests through tunnels: medians of some rounds after one to warm up. */
function requests(place: Place, kind: 'wire' | 'sdk', sessions: number): Promise<Figures> {
  return withAgents(place, { kind, sessions, labels: LABELS }, async (edge) => {
    const options = loadOptions(place);
    const rounds: Figures[] = [];
    for (let round = 0; round <= ROUNDS; round++) {
      const before = await cpuMs(edge);
      const got = await load(GET, edge.first.plain, options);
      if (got.faults > 0) throw new Error(`${got.faults} of ${got.requests} requests failed`);
      const cpuMicros = (((await cpuMs(edge)) - before) * 1_000) / got.requests;
      if (round > 0) rounds.push({ perSecond: got.requests / got.seconds, p99: got.p99Ms, cpuMicros });
    }
    const of = (name: keyof Figures): number => median(rounds.map((each) => each[name]));
    return { perSecond: of('perSecond'), p99: of('p99'), cpuMicros: of('cpuMicros') };
  });
}

/** Moves bytes in one direction; returns the time, in ms. */
function transfer(port: number, way: 'down' | 'up'): Promise<number> {
  return new Promise((resolve, reject) => {
    const began = performance.now();
    let got = 0;
    const buffer = Buffer.alloc(65_536);
    const callback = (count: number): boolean => {
      got += count;
      if (got < (way === 'down' ? BULK_BYTES : 1)) return true;
      resolve(performance.now() - began);
      socket.destroy();
      return true;
    };
    const socket = connect({ port, host: '127.0.0.1', onread: { buffer, callback } }).on('error', reject);
    const head = Buffer.alloc(9, way === 'down' ? 'd' : 'u');
    head.writeBigUInt64BE(BigInt(BULK_BYTES), 1);
    socket.write(head);
    if (way === 'up') pour(socket, BULK_BYTES);
  });
}

function pour(socket: Socket, bytes: number): void {
  const chunk = Buffer.alloc(65_536);
  for (let left = bytes; left > 0;) {
    const count = Math.min(left, chunk.length);
    left -= count;
    if (socket.write(chunk.subarray(0, count))) continue;
    socket.once('drain', () => pour(socket, left));
    return;
  }
}

interface Moved {
  readonly perSecond: number;
  readonly cpuMs: number;
}

/** One transfer through a process. */
async function moved(port: number, through: Helper<unknown>, way: 'down' | 'up'): Promise<Moved> {
  const before = await cpuMs(through);
  const tookMs = await transfer(port, way);
  const spentMs = (await cpuMs(through)) - before;
  const mib = BULK_BYTES / 2 ** 20;
  return { perSecond: (mib / tookMs) * 1_000, cpuMs: (spentMs / mib) * 1_024 };
}

interface Bulk {
  readonly rows: readonly BenchRow[];
  /** The throughput of the tunnel, as a share of that of the relay, in the direction where it is smaller. */
  readonly share: number;
}

/** Throughput in both directions of a tunnel and of the relay, which take turns. */
function bulk(place: Place): Promise<Bulk> {
  return withAgents(place, { kind: 'wire', sessions: 1, labels: LABELS }, async (edge, far) => {
    const relay = await helper<{ readonly port: number }>('relay_process.ts', {
      port: far.first.bare,
      ca: edge.first.ca,
    });
    const rows: BenchRow[] = [];
    const shares: number[] = [];
    for (const way of ['down', 'up'] as const) {
      const rounds: { readonly ours: Moved; readonly bare: Moved }[] = [];
      for (let round = 0; round <= BULK_ROUNDS; round++) {
        const ours = await moved(edge.first.tcp, edge, way);
        const bare = await moved(relay.first.port, relay, way);
        if (round > 0) rounds.push({ ours, bare });
      }
      const name = way === 'down' ? 'bulk, agent to client' : 'bulk, client to agent';
      const figure = (what: keyof Moved, label: string, unit: string): BenchRow => {
        const each = rounds.map(({ ours, bare }) => bare[what] / ours[what]);
        const of = (side: 'ours' | 'bare'): number => median(rounds.map((round) => round[side][what]));
        const ratios = { 'TLS relay': [Math.min(...each), Math.max(...each)] as const };
        return { name: label, ours: of('ours'), unit, peers: { 'TLS relay': of('bare') }, ratios };
      };
      rows.push(figure('perSecond', name, 'MiB/s'), figure('cpuMs', `${name}, CPU`, 'ms/GiB'));
      shares.push(median(rounds.map(({ ours, bare }) => ours.perSecond / bare.perSecond)));
    }
    await relay.stop();
    return { rows, share: Math.min(...shares) };
  });
}

/** Memory of the edge for sessions that do nothing, in MiB. */
function idle(place: Place): Promise<number> {
  return withAgents(place, { kind: 'wire', sessions: 1, labels: LABELS }, async (edge, far) => {
    // The young generation grows to its limit with whatever an edge does, so it must have done something before.
    await load(GET, edge.first.plain, loadOptions(place));
    const before = await stats(edge);
    const { agents: port, ca } = edge.first;
    const order = { kind: 'wire', port, ca, caFile: place.caFile, labels: null } as const;
    await far.ask({ ...order, sessions: IDLE_SESSIONS - 1 } satisfies AgentOrder);
    const after = await stats(edge);
    if (after.sessions !== IDLE_SESSIONS) throw new Error(`${after.sessions} sessions are open`);
    return (after.rss - before.rss) / 2 ** 20;
  });
}

/** Agents: requests and bulk through their tunnels, and what idle sessions cost. */
export async function run(): Promise<BenchSection> {
  const missing = missingPrograms();
  if (missing.length > 0)
    return { title: 'Agents', rows: [], notes: [`not measured: ${missing.join(', ')} missing`] };
  const folder = mkdtempSync(join(tmpdir(), 'edgeproof-bench-'));
  try {
    const authority = await localAuthority(folder);
    const { certificatePem: cert, privateKeyPem: key } = serverCertificate(authority, 'localhost');
    const sockets = loadSockets(folder);
    const place: Place = { folder, sockets, caFile: authority.file, pair: { cert, key } };
    const rows: BenchRow[] = [];
    const measured: readonly (readonly [name: string, figures: Figures])[] = [
      ['one tunnel', await requests(place, 'wire', 1)],
      ['ten tunnels', await requests(place, 'wire', 10)],
      ['one tunnel, published agent', await requests(place, 'sdk', 1)],
    ];
    for (const [name, { perSecond, p99, cpuMicros }] of measured)
      rows.push(
        { name, ours: perSecond, unit: '/s', peers: {} },
        { name: `${name}, p99`, ours: p99, unit: 'ms', peers: {} },
        { name: `${name}, CPU`, ours: cpuMicros, unit: 'µs', peers: {} },
      );
    const transfers = await bulk(place);
    rows.push(...transfers.rows);
    const idleMiB = await idle(place);
    // The kernel keeps its buffers outside of the process.
    const floor = { name: 'nothing per session', value: 0 };
    rows.push({ name: `${IDLE_SESSIONS} idle sessions`, ours: idleMiB, unit: 'MiB', peers: {}, floor });
    return {
      title: 'Agents',
      rows,
      notes: notesOn(measured[0]![1], transfers, idleMiB),
      floors: ['TLS relay'],
      between: 'a stream for each connection with its credit, and of requests the whole of the ingress',
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const met = (is: boolean): string => (is ? 'met' : 'MISSED');

function notesOn({ perSecond, cpuMicros }: Figures, { share }: Bulk, idleMiB: number): string[] {
  const core = 1e6 / cpuMicros;
  return [
    `one tunnel: ${GOALS.perSecond.toLocaleString('en')} requests a second: ${met(perSecond >= GOALS.perSecond)}; by CPU a core would take ${Math.round(core).toLocaleString('en')}`,
    `bulk: ${GOALS.bulk} × a TLS relay of Node: ${met(share >= GOALS.bulk)}, ${share.toFixed(2)} as the median of pairs`,
    `idle sessions: ${GOALS.idleMiB} MiB: ${met(idleMiB <= GOALS.idleMiB)}`,
    `${CONNECTIONS} connections, 1 kB; agents of ours answer by themselves, the published one has an app of Node behind it; edge, agents and load share the cores`,
    'CPU is that of the process of the edge, or of the relay',
  ];
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) console.log(render(await run()));
