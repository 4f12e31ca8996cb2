import { type Check, type Outcome, check } from './check.ts';
import { type Client, HOST_LINE, dial, get } from './client.ts';
import { after } from './good_traffic.ts';
import { type ProxyProcess, startProxy } from './proxy.ts';
import { type Upstream, startUpstream } from './upstream.ts';

export interface ClientAbortsSettings {
  /** Clients that disconnect in each phase. */
  readonly each: number;
}

interface Phase {
  readonly name: string;
  readonly bytes: string;
  /** The client stays until then. */
  readonly until: 'sent' | 'upstream has it' | 'first bytes';
  /** Number of its events. */
  readonly events: 0 | 1;
}

// table: phases
const PHASES: readonly Phase[] = [
  { name: 'before a byte', bytes: '', until: 'sent', events: 0 },
  { name: 'in its head', bytes: `GET /echo/1 HTTP/1.1\r\n${HOST_LINE}X-`, until: 'sent', events: 1 },
  {
    name: 'in its content',
    bytes: `POST /echo/1 HTTP/1.1\r\n${HOST_LINE}Content-Length: 100\r\n\r\nabc`,
    until: 'sent',
    events: 1,
  },
  {
    name: 'in its chunks',
    bytes: `POST /echo/1 HTTP/1.1\r\n${HOST_LINE}Transfer-Encoding: chunked\r\n\r\n5\r\nab`,
    until: 'sent',
    events: 1,
  },
  { name: 'while the upstream is working', bytes: get('/hang'), until: 'upstream has it', events: 1 },
  { name: 'in the response', bytes: get('/begin'), until: 'first bytes', events: 1 },
  {
    name: 'in a large response that it does not read',
    bytes: get('/large/50000000'),
    until: 'first bytes',
    events: 1,
  },
];

/** Clients that close or reset in every phase: one event each, and no resources leak. */
export async function clientAborts({ each }: ClientAbortsSettings): Promise<Outcome> {
  const upstream = await startUpstream();
  const proxy = await startProxy({ upstream: upstream.address });
  const checks: Check[] = [];
  try {
    const base = (await proxy.stats()).descriptors;
    for (const phase of PHASES) {
      for (const way of ['close', 'reset'] as const) {
        const before = (await proxy.stats()).events;
        await leaveMany(phase, way, each, proxy, upstream);
        const expected = before + phase.events * each;
        const stats = await proxy.statsWhen(
          ({ events, descriptors }) => events >= expected && descriptors <= base + 2,
        );
        const name = `${way} ${phase.name}`;
        checks.push(
          check(
            `${name}: ${phase.events} events each`,
            stats.events === expected,
            `${stats.events - before} for ${each}`,
          ),
          check(
            `${name}: no descriptor is left`,
            stats.descriptors <= base + 2,
            `${base} → ${stats.descriptors}`,
          ),
        );
      }
    }
    const client = await dial(proxy.port);
    const answer = await client.ask(get('/echo/still'));
    client.socket.destroy();
    checks.push(check('it still serves', answer?.content === 'echo still', String(answer?.status)));
    return { name: `clients that leave, ${each} at each phase`, checks };
  } finally {
    await proxy.kill();
    await upstream.close();
  }
}

async function leaveMany(
  phase: Phase,
  way: 'close' | 'reset',
  count: number,
  proxy: ProxyProcess,
  upstream: Upstream,
): Promise<void> {
  const before = upstream.seen.length;
  const { accepted, bytesRead } = await proxy.stats();
  const clients = await Promise.all(Array.from({ length: count }, () => dial(proxy.port)));
  const heard = Promise.all(clients.map(({ socket }) => firstBytes(socket)));
  for (const { socket } of clients) if (phase.bytes !== '') socket.write(phase.bytes);
  if (phase.until === 'first bytes') await heard;
  if (phase.until === 'upstream has it')
    for (let waited = 0; upstream.seen.length < before + count && waited < 500; waited++) await after(10);
  // Everything that was sent has to arrive before the end, because a reset discards data in flight.
  if (phase.until === 'sent')
    await proxy.statsWhen(
      (now) =>
        now.accepted >= accepted + count &&
        now.bytesRead >= bytesRead + count * Buffer.byteLength(phase.bytes),
    );
  for (const client of clients) leave(client, way);
}

function firstBytes(socket: Client['socket']): Promise<void> {
  return new Promise((resolve) => {
    socket.once('data', () => {
      socket.pause();
      resolve();
    });
    socket.once('close', () => resolve());
  });
}

function leave({ socket }: Client, way: 'close' | 'reset'): void {
  if (way === 'close') socket.destroy();
  else socket.resetAndDestroy();
}
