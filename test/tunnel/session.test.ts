import { duplexPair } from 'node:stream';
import { expect, onTestFinished, test, vi } from 'vitest';
import { containedFaults } from '../../src/io/containment.ts';
import { KeptSessions, keptSession } from '../../src/tunnel/kept_sessions.ts';
import { MuxConnection } from '../../src/tunnel/mux/connection.ts';
import { StreamDuplex } from '../../src/tunnel/mux/stream_duplex.ts';
import { newIds } from '../../src/events/identifiers.ts';
import { Agents, type AgentsOptions } from '../../src/tunnel/agents.ts';
import type { SessionEvent } from '../../src/tunnel/online_sessions.ts';
import { IS_FULL, runs, seeded } from '../random.ts';
import { FrameReader, MUX_ERROR, dataFrame, goawayFrame, resetFrame } from '../../src/tunnel/mux/frames.ts';
import { edgeWithAgents } from './agent.ts';
import { AUTH, CALL, handmadeAgent, labelledOf } from './handmade_agent.ts';

const agentsWith = (options: Partial<AgentsOptions>): Agents =>
  new Agents({
    nowMs: Date.now,
    newId: newIds(Date.now),
    admit: async () => ({ credential: null, acl: [] }),
    ...options,
  });

test('a session starts with one Auth; calls before it, and a second Auth, are reset', async () => {
  const { agents, call } = handmadeAgent();
  expect(await call(1, '{"Id":"","Proto":"https","Opts":{},"Extra":{}}')).toBeNull();
  expect(JSON.parse((await call(0, AUTH))!)).toMatchObject({ Version: '3', Extra: { Region: 'local' } });
  expect(await call(0, AUTH)).toBeNull();
  expect(agents.sessions()).toMatchObject([{ facts: { os: 'linux' } }]);
});

test('agents in Go: their spelling of names, and their question about the service; unknown calls are reset', async () => {
  const tokens: string[] = [];
  const { agents, call } = handmadeAgent(
    agentsWith({ admit: async (token) => (tokens.push(token), { credential: null, acl: [] }) }),
  );
  const Extra = { Authtoken: 'go', OS: 'linux', Arch: 'amd64', Fingerprint: null, LegNumber: 0 };
  await call(0, JSON.stringify({ Version: ['3', '2'], ClientId: '', Extra }));
  expect(tokens).toEqual(['go']);
  expect(agents.sessions()).toMatchObject([
    { facts: { arch: 'amd64', unsupported: { stop: 'the agent is too old for this command' } } },
  ]);
  expect(JSON.parse((await call(8, '{}'))!)).toEqual({ Region: 'local' });
  for (const unknown of [11, 99]) expect(await call(unknown, '{}')).toBeNull();
  expect(agents.sessions().length).toBe(1);
});

test('an Auth beyond 64 kB is refused', async () => {
  const { agents, call } = handmadeAgent();
  const long = JSON.stringify({ Extra: { Metadata: 'x'.repeat(70_000) } });
  expect(JSON.parse((await call(0, long))!)).toEqual({ Error: 'a request may have at most 65536 bytes' });
  expect(agents.sessions()).toEqual([]);
});

test('an Auth that nests deeply is refused', async () => {
  const { agents, call } = handmadeAgent();
  const deep = `{"Extra":${'['.repeat(60_000)}`;
  expect(JSON.parse((await call(0, deep))!)).toEqual({
    Error: 'a request may be nested at most 64 levels deep',
  });
  expect(agents.sessions()).toEqual([]);
});

test('calls that are not complete hold two megabytes of a session at most, and leave them when they end', async () => {
  const { call, connection } = handmadeAgent();
  await call(0, AUTH);
  const begin = (): StreamDuplex => {
    const duplex = new StreamDuplex();
    duplex.attach(connection.mux.open(duplex)!);
    duplex.write(
      Buffer.concat([Buffer.from([0, 0, 0, CALL.bind]), Buffer.from(`{"Id":"${'x'.repeat(1_000_000)}`)]),
    );
    return duplex;
  };
  const held = [begin(), begin()];
  await expect.poll(() => held.every(({ writableLength }) => writableLength === 0)).toBe(true);
  const next = JSON.parse((await call(CALL.bind, `{"Id":"${'x'.repeat(500_000)}"}`))!);
  expect(next).toEqual({ Error: 'all calls in progress may have at most 2097152 bytes' });
  for (const duplex of held) duplex.destroy();
  await expect
    .poll(async () => JSON.parse((await call(CALL.unbind, `{"Id":"${'x'.repeat(500_000)}"}`))!))
    .toEqual({});
});

test('labels have a maximum length', async () => {
  const { call } = handmadeAgent();
  await call(0, AUTH);
  for (const labels of [{ app: 'x'.repeat(256) }, { ['é'.repeat(128)]: '' }])
    expect(await call(CALL.labelled, labelledOf(labels))).toContain('has more than 255 bytes');
});

test('before Auth an agent has four streams, then more', async () => {
  const { call } = handmadeAgent();
  const early = Array.from({ length: 4 }, () => call(0xffff_ffff, 'beat'));
  expect(await call(0, AUTH)).toBeNull();
  expect(await Promise.race([...early, Promise.resolve('open')])).toBe('open');
  const other = handmadeAgent();
  await other.call(0, AUTH);
  const later = await Promise.all(Array.from({ length: 8 }, () => other.call(2, '{"Id":"none"}')));
  expect(new Set(later)).toEqual(new Set(['{}']));
});

test('an agent that does not read what it causes is disconnected', async () => {
  const { socket: ours, call, session } = handmadeAgent();
  await call(0, AUTH);
  ours.pause();
  // Each is answered with a reset of an unknown stream.
  const frame = dataFrame(99_999, Buffer.from('x'), { opens: false, isLast: false });
  const frames = Buffer.concat(Array.from({ length: 5_000 }, () => frame));
  for (let sent = 0; session.isOpen && sent < 100; sent++) {
    ours.write(frames);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(session.isOpen).toBe(false);
});

test('frames that hasten acknowledgements give credit, because agents in Go end their session at an empty one', async () => {
  const { socket, call } = handmadeAgent();
  const credits: [stream: number, bytes: number][] = [];
  const reader = new FrameReader({
    dataBegins: () => undefined,
    dataPiece: () => undefined,
    dataEnds: () => undefined,
    reset: () => undefined,
    windowGrows: (stream, bytes) => void credits.push([stream, bytes]),
    goaway: () => undefined,
  });
  socket.on('data', (bytes: Buffer) => void reader.read(bytes));
  await call(0, AUTH);
  // An unknown reset has no answer.
  socket.write(resetFrame(77, MUX_ERROR.none));
  await vi.waitFor(() => expect(credits).toContainEqual([0x7fff_fffe, 1]));
  expect(credits.filter(([, bytes]) => bytes === 0)).toEqual([]);
});

test('labels that an agent asked for long ago are forgotten', () => {
  const kept = new KeptSessions();
  const session = keptSession('ts_1', null, 0);
  kept.keep(session, new Set());
  const request = (metadata: number) => ({
    labels: { a: 'b' },
    forwardsTo: '',
    http2: false,
    metadata: String(metadata),
  });
  for (let at = 0; at < 2_100; at++) kept.labelled('ts_1', request(at), `tn_${at}`);
  expect(session.labelled.size).toBe(2_000);
  expect(kept.labelledId('ts_1', request(99), () => false)).toBeNull();
  expect(kept.labelledId('ts_1', request(100), () => false)).toBe('tn_100');
});

test.each([
  ['metadata beyond its limit', { Extra: { Metadata: 'x'.repeat(5_000) } }, 'The metadata', 100],
  ['an unknown version of the protocol', { Version: ['4'] }, 'The agent does not support version 3', 120],
])('%s is refused with its code, and an event says so', async (_what, auth, why, number) => {
  const events: SessionEvent[] = [];
  const { call } = handmadeAgent(agentsWith({ onSession: (event) => void events.push(event) }));
  const { Error: text } = JSON.parse((await call(0, JSON.stringify(auth)))!);
  expect(text).toMatch(new RegExp(`^${why}.*\r\n\r\nERR_NGROK_${number}\r\n$`));
  expect(events).toMatchObject([{ type: 'start', error: expect.stringContaining(why), credential: null }]);
});

test('of two connections that resume a session at the same time, one has it', async () => {
  const agents = agentsWith({});
  const first = handmadeAgent(agents);
  const { ClientId, Extra } = JSON.parse((await first.call(0, AUTH))!);
  const again = JSON.stringify({ ClientId, Extra: { AuthToken: 'x', Cookie: Extra.Cookie } });
  const others = Array.from({ length: 3 }, () => handmadeAgent(agents));
  await Promise.all(others.map(({ call }) => call(0, again)));
  expect(agents.sessions().map(({ id }) => id)).toEqual([ClientId]);
});

test('a credential that is revoked while its agent authenticates starts no session', async () => {
  let asked = 0;
  const agents: Agents = agentsWith({
    admit: async () => {
      if (++asked > 1) return { number: 107, message: 'The authtoken does not belong to any credential.' };
      // The store has been read; its answer is on its way.
      agents.revoke('cr_1', 'the credential cr_1 was deleted');
      return { credential: 'cr_1', acl: [] };
    },
  });
  const { call } = handmadeAgent(agents);
  expect(JSON.parse((await call(0, AUTH))!).Error).toMatch(/ERR_NGROK_107/);
  expect(agents.sessions()).toEqual([]);
});

test('another agent does not resume a session by its id alone', async () => {
  const { agents, call } = handmadeAgent();
  const { ClientId: id, Extra } = JSON.parse((await call(0, AUTH))!);
  const resume = (cookie: string) =>
    JSON.stringify({ ClientId: id, Extra: { AuthToken: 'x', Cookie: cookie } });
  const other = (text: string) => {
    const [ours, theirs] = duplexPair();
    agents.accept(theirs, '127.0.0.1');
    const connection = new MuxConnection(
      ours,
      { opened: () => null, received: () => undefined, closed: () => undefined },
      { firstId: 3, peerStreams: 1 },
    );
    onTestFinished(() => connection.close('over'));
    return new Promise<{ readonly ClientId: string }>((resolve) => {
      const duplex = new StreamDuplex();
      duplex.on('data', (bytes: Buffer) => resolve(JSON.parse(bytes.toString())));
      duplex.attach(connection.mux.open(duplex)!);
      duplex.write(Buffer.concat([Buffer.alloc(4), Buffer.from(text)]));
    });
  };
  expect((await other(resume('guessed'))).ClientId).not.toBe(id);
  expect(agents.sessions().length).toBe(2);
  expect((await other(resume(Extra.Cookie))).ClientId).toBe(id);
  expect(agents.sessions().length).toBe(2);
});

test('mutated calls are answered or reset', async () => {
  const random = seeded(22);
  const before = containedFaults();
  const { call } = handmadeAgent();
  await call(0, AUTH);
  const bodies = [
    '{"Id":"","Proto":"ssh","Opts":{"Domain":"a"},"Extra":{"Token":"","Bindings":["x"]}}',
    '{"Labels":{"a":"b"},"ForwardsTo":"x","ForwardsProto":"","Metadata":""}',
    '{"Id":"tn_1"}',
  ];
  for (let run = 0; run < runs(1_000); run++) {
    const bytes = Buffer.from(`${bodies[run % 3]!}}`);
    for (let count = Math.floor(random() * 3); count > 0; count--)
      bytes[Math.floor(random() * (bytes.length - 1))] = Math.floor(random() * 128);
    // The last byte closes whatever the mutation left open, or comes after the end.
    const answer = await Promise.race([
      call([7, 2, 9][run % 3]!, bytes),
      new Promise((resolve) => setImmediate(resolve, 'open')),
    ]);
    expect(answer === null || typeof answer === 'string').toBe(true);
  }
  expect(containedFaults()).toBe(before);
});

const LABELLED = JSON.stringify({ Labels: { app: 'x' }, ForwardsTo: '', ForwardsProto: '', Metadata: '' });

test('unbinding is idempotent, also for tunnels that were never there', async () => {
  const { agents, call } = handmadeAgent();
  await call(CALL.auth, AUTH);
  const { Id } = JSON.parse((await call(CALL.labelled, LABELLED))!);
  for (const id of [Id, Id, 'tn_never', '']) {
    expect(JSON.parse((await call(CALL.unbind, JSON.stringify({ Id: id })))!)).toEqual({});
    expect(agents.tunnels.all()).toEqual([]);
  }
});

test('an agent does not unbind the tunnels of another one', async () => {
  const one = handmadeAgent();
  const other = handmadeAgent(one.agents);
  for (const { call } of [one, other]) await call(CALL.auth, AUTH);
  const { Id } = JSON.parse((await one.call(CALL.labelled, LABELLED))!);
  await other.call(CALL.unbind, JSON.stringify({ Id }));
  expect(one.agents.tunnels.all()).toMatchObject([{ id: Id }]);
});

test('an agent that says that it goes ends its session and its tunnels', async () => {
  const { agents, call, socket, ended } = handmadeAgent();
  await call(CALL.auth, AUTH);
  await call(CALL.labelled, LABELLED);
  expect(agents.tunnels.all().length).toBe(1);
  socket.write(goawayFrame(0, MUX_ERROR.none));
  await expect.poll(ended).not.toBeNull();
  expect([agents.sessions(), agents.tunnels.all()]).toEqual([[], []]);
});

test('an internal endpoint of TLS passes it through', async () => {
  const { agents } = await edgeWithAgents();
  const { call } = handmadeAgent(agents);
  await call(CALL.auth, AUTH);
  const bind = async (Opts: object) =>
    JSON.parse((await call(CALL.bind, JSON.stringify({ Id: '', Proto: 'tls', Opts, Extra: {} })))!);
  const Domain = 'db.internal';
  expect((await bind({ Domain, TLSTermination: {} })).Error).toMatch(
    /^ERR_NGROK_7104|reached by forward-internal only, so TLS cannot end here/,
  );
  expect(await bind({ Domain })).toMatchObject({ URL: 'tls://db.internal' });
});

const A_SECOND_NS = 1e9;
const QUICK = JSON.stringify({
  Version: ['3'],
  ClientId: '',
  Extra: { AuthToken: 'x', HeartbeatInterval: A_SECOND_NS, HeartbeatTolerance: A_SECOND_NS },
});

/** An agent with an endpoint that sends no beats; what the edge sends on streams of its own. */
async function silentAgent(answers: boolean) {
  const { agents } = await edgeWithAgents();
  let asked = '';
  const agent = handmadeAgent(agents, (stream) => {
    stream.on('data', (bytes: Buffer) => {
      asked += bytes.toString('hex');
      if (answers) stream.write(Buffer.alloc(4, 1));
    });
  });
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
  await agent.call(CALL.auth, QUICK);
  const Opts = { Domain: 'beats.localhost' };
  const answer = await agent.call(CALL.bind, JSON.stringify({ Id: '', Proto: 'https', Opts, Extra: {} }));
  expect(JSON.parse(answer!).URL).toMatch(/^https:\/\/beats\.localhost/);
  expect(agents.endpoints.all().length).toBe(1);
  const pass = async (ms: number): Promise<void> => {
    vi.advanceTimersByTime(ms);
    for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
  };
  return { ...agent, pass, asked: () => asked };
}

test('an agent that does not answer the beat of the edge is dropped, and its endpoints go offline', async () => {
  const { agents, pass, asked, ended, session } = await silentAgent(false);
  await pass(1_400);
  expect(asked()).toBe('');
  await pass(200);
  expect(asked()).toMatch(/^ffffffff.{8}$/);
  expect(session.isOpen).toBe(true);
  await pass(500);
  expect([ended() === null, agents.sessions(), agents.tunnels.all()]).toEqual([false, [], []]);
  expect(agents.endpoints.all()).toEqual([]);
});

test('after a pause of the edge, what agents sent meanwhile is read before they are dropped', async () => {
  const { agents, pass, ended } = await silentAgent(false);
  const now = performance.now.bind(performance);
  let pauseMs = 0;
  const paused = vi.spyOn(performance, 'now').mockImplementation(() => now() + pauseMs);
  onTestFinished(() => paused.mockRestore());
  pauseMs = 60_000;
  await pass(1_600);
  expect([ended(), agents.sessions().length]).toEqual([null, 1]);
  await pass(1_000);
  expect([ended() === null, agents.sessions()]).toEqual([false, []]);
});

test('an agent that only answers the beats of the edge stays', async () => {
  const { agents, pass, asked, ended } = await silentAgent(true);
  for (let second = 0; second < 10; second++) await pass(500);
  expect(asked().length).toBeGreaterThan(16);
  expect([ended(), agents.endpoints.all().length]).toEqual([null, 1]);
});

test.skipIf(!IS_FULL)(
  'sessions are limited; a place is free when one ends (full run only)',
  async () => {
    const first = handmadeAgent();
    const { agents } = first;
    expect(await first.call(CALL.auth, AUTH)).not.toContain('Error');
    for (let number = 1; number < 1_000; number++) await handmadeAgent(agents).call(CALL.auth, AUTH);
    expect(agents.sessions()).toHaveLength(1_000);
    expect(await handmadeAgent(agents).call(CALL.auth, AUTH)).toContain('ERR_NGROK_108');
    first.session.close('test');
    await expect.poll(() => agents.sessions().length, { timeout: 10_000 }).toBe(999);
    expect(await handmadeAgent(agents).call(CALL.auth, AUTH)).not.toContain('Error');
  },
  60_000,
);
