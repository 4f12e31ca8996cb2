import { once } from 'node:events';
import { type Socket, connect } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { wireAgent } from '../../bench/agents/wire_agent.ts';
import { EARLY_LIMITS, EarlyConnections } from '../../src/tunnel/early_connections.ts';
import { readFileSync } from 'node:fs';
import { edgeWithAgents } from './agent.ts';

const LIMITS = { perNetwork: 2, scarce: 10, scarceMs: 3_000 };

function peers() {
  const closed: string[] = [];
  let port = 1;
  const peer = (remoteAddress: string) => {
    const remotePort = port++;
    return { remoteAddress, remotePort, destroy: (): never => void closed.push(remoteAddress) as never };
  };
  return { peer, closed };
}

test.each([
  ['an IPv4 address', '192.0.2.1', '192.0.2.1', '192.0.2.2'],
  ['an IPv4 address in both notations', '192.0.2.1', '::ffff:192.0.2.1', '192.0.2.2'],
  ['an IPv6 network of 64 bits', '2001:db8::1', '2001:db8::ffff:1', '2001:db8:0:1::1'],
  ['a link with a zone', 'fe80::1%eth0', 'fe80::2%eth0', '2001:db8::1'],
])('early connections are counted for %s', (_, one, same, other) => {
  const early = new EarlyConnections(LIMITS);
  const { peer } = peers();
  const key = early.begin(peer(one));
  expect(key).not.toBeNull();
  expect(early.begin(peer(same))).not.toBeNull();
  expect(early.begin(peer(one))).toBeNull();
  expect(early.begin(peer(other))).not.toBeNull();
  early.settled(key!);
  early.settled(key!);
  expect(early.begin(peer(same))).not.toBeNull();
  expect(early.begin(peer(same))).toBeNull();
});

test('while places are scarce, the time to authenticate is shorter', () => {
  let nowMs = 0;
  const early = new EarlyConnections(LIMITS, () => nowMs);
  const { peer, closed } = peers();
  early.begin(peer('192.0.2.1'));
  const known = early.begin(peer('192.0.2.2'))!;
  early.settled(known);
  nowMs = 2_000;
  early.begin(peer('192.0.2.3'));
  nowMs = 4_000;
  early.makeRoom(LIMITS.scarce - 1);
  expect(closed).toEqual([]);
  early.makeRoom(LIMITS.scarce);
  expect(closed).toEqual(['192.0.2.1']);
});

test('one address does not take all places, and authenticated agents do not count', async () => {
  const { listening, authority } = await edgeWithAgents();
  const port = listening.agentsPort!;
  const sockets: Socket[] = [];
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
  const ca = readFileSync(authority.file, 'utf8');
  const serve = (): never => {
    throw new Error('nothing is carried');
  };
  const agent = await wireAgent({ port, ca, serve });
  onTestFinished(() => void agent.socket.destroy());
  let ended = 0;
  const open = (): Socket => {
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    socket.once('close', () => void ended++).resume();
    sockets.push(socket);
    return socket;
  };
  const opened = Array.from({ length: EARLY_LIMITS.perNetwork }, open);
  await Promise.all(opened.map((socket) => once(socket, 'connect')));
  await once(open(), 'close');
  expect(ended).toBe(1);
  expect(agent.socket.destroyed).toBe(false);
  // A place that becomes free is taken again.
  opened[0]!.destroy();
  await once(opened[0]!, 'close');
  await expect
    .poll(async () => {
      const tried = await wireAgent({ port, ca, serve }).catch(() => null);
      tried?.socket.destroy();
      return tried !== null;
    })
    .toBe(true);
});
