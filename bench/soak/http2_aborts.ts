import { once } from 'node:events';
import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from 'node:http2';
import { type Check, type Outcome, check } from './check.ts';
import { dial, get } from './client.ts';
import { after } from './good_traffic.ts';
import { startProxy } from './proxy.ts';
import { type Upstream, startUpstream } from './upstream.ts';

export interface Http2AbortsSettings {
  /** Streams that are aborted in each phase. */
  readonly each: number;
}

const STREAMS = 10;

interface Phase {
  readonly name: string;
  readonly target: string;
  /** The content that is sent; null: the stream ends without content. */
  readonly content: string | null;
  readonly until: 'sent' | 'upstream has it' | 'head';
}

// table: phases
const PHASES: readonly Phase[] = [
  { name: 'in its content', target: '/echo/1', content: 'half', until: 'sent' },
  { name: 'while the upstream is working', target: '/hang', content: null, until: 'upstream has it' },
  { name: 'in the response', target: '/begin', content: null, until: 'head' },
  {
    name: 'in a large response that it does not read',
    target: '/large/50000000',
    content: null,
    until: 'head',
  },
];

type Leave = (streams: readonly ClientHttp2Stream[], session: ClientHttp2Session) => void;

const WAYS: readonly (readonly [name: string, leave: Leave])[] = [
  ['resets its stream', (streams) => streams.forEach((stream) => stream.close(constants.NGHTTP2_CANCEL))],
  [
    'resets it with NO_ERROR',
    (streams) => streams.forEach((stream) => stream.close(constants.NGHTTP2_NO_ERROR)),
  ],
  ['destroys its session', (_streams, session) => session.destroy()],
  [
    'sends GOAWAY and disconnects',
    (_streams, session) => {
      session.goaway(constants.NGHTTP2_NO_ERROR);
      setImmediate(() => session.destroy());
    },
  ],
];

/** HTTP/2 clients that disconnect in every phase: one event for each stream, and no resources leak. */
export async function http2Aborts({ each }: Http2AbortsSettings): Promise<Outcome> {
  const upstream = await startUpstream();
  const proxy = await startProxy({ upstream: upstream.address });
  const checks: Check[] = [];
  try {
    await leaveMany(PHASES[2]!, WAYS[0]![1], 1, proxy.port, upstream); // loads code that is loaded once
    const base = (await proxy.statsWhen(({ events }) => events >= 1)).descriptors;
    for (const phase of PHASES) {
      for (const [way, leave] of WAYS) {
        const before = (await proxy.stats()).events;
        await leaveMany(phase, leave, each, proxy.port, upstream);
        const expected = before + each;
        const stats = await proxy.statsWhen(
          ({ events, descriptors }) => events >= expected && descriptors <= base + 2,
        );
        checks.push(
          check(
            `${phase.name}, ${way}: one event each, no descriptor left`,
            stats.events === expected && stats.descriptors <= base + 2,
            `${stats.events - before} for ${each}, ${base} → ${stats.descriptors}`,
          ),
        );
      }
    }
    const client = await dial(proxy.port);
    const answer = await client.ask(get('/echo/still'));
    client.socket.destroy();
    checks.push(check('it still serves', answer?.content === 'echo still', String(answer?.status)));
    return { name: `HTTP/2 clients that leave, ${each} at each phase`, checks };
  } finally {
    await proxy.kill();
    await upstream.close();
  }
}

async function leaveMany(
  phase: Phase,
  leave: Leave,
  count: number,
  port: number,
  upstream: Upstream,
): Promise<void> {
  const before = upstream.seen.length;
  const opened: { session: ClientHttp2Session; streams: ClientHttp2Stream[]; heads: Promise<unknown>[] }[] =
    [];
  for (let left = count; left > 0; left -= STREAMS) {
    const session = connect(`http://127.0.0.1:${port}`);
    session.on('error', () => undefined);
    const streams = Array.from({ length: Math.min(STREAMS, left) }, () => begin(session, phase));
    opened.push({ session, streams, heads: streams.map((stream) => once(stream, 'response')) });
  }
  const heads = Promise.all(opened.flatMap((each) => each.heads));
  heads.catch(() => undefined);
  if (phase.until === 'head') await heads;
  if (phase.until === 'upstream has it')
    for (let waited = 0; upstream.seen.length < before + count && waited < 500; waited++) await after(10);
  if (phase.until === 'sent') await Promise.all(opened.map(arrived));
  for (const { session, streams } of opened) leave(streams, session);
  await Promise.all(opened.map(arrived));
  for (const { session } of opened) session.destroy();
}

/** Waits until the proxy has read everything that was sent: it has answered a ping that was sent after it. */
async function arrived({ session }: { readonly session: ClientHttp2Session }): Promise<void> {
  if (session.connecting) await once(session, 'connect');
  // The first one overtakes what waits to be sent; nothing does when it is answered.
  for (let pings = 0; pings < 2 && !session.destroyed; pings++)
    await new Promise<void>((resolve) => void session.ping(() => resolve()));
}

function begin(session: ClientHttp2Session, { target, content }: Phase): ClientHttp2Stream {
  const stream = session.request(
    { ':path': target, ':authority': 'soak.test', ':method': content === null ? 'GET' : 'POST' },
    { endStream: content === null },
  );
  stream.on('error', () => undefined);
  if (content !== null) stream.write(content);
  return stream;
}
