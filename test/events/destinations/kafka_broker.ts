import { type ChildProcess, spawn } from 'node:child_process';
import { type AddressInfo, type Socket, connect, createServer } from 'node:net';

/**
 * A broker that is not ours: the one in librdkafka, which kcat can start, and whose consumer checks record batches and
 * their CRC-32C. It names broker 0 as its controller, which does not exist, so clients reach it through a proxy that
 * names the first one.
 */

export const KCAT = '/usr/bin/kcat';

/** A record as its consumer reads it. */
interface Consumed {
  readonly partition: number;
  readonly offset: number;
  readonly key: string;
  readonly payload: string;
  /** Names and values, one after the other. */
  readonly headers: readonly string[];
}

export async function startBroker(topic: string) {
  const mock = ['-b', 'replaced:1', '-X', 'test.mock.num.brokers=1', '-X', 'check.crcs=true', '-d', 'mock'];
  const args = [...mock, '-C', '-t', topic, '-o', 'beginning', '-J', '-u'];
  const child: ChildProcess = spawn(KCAT, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const exited = new Promise((resolve) => child.once('exit', resolve));
  const port = await new Promise<number>((resolve, reject) => {
    let said = '';
    child.once('exit', () => reject(new Error(said)));
    child.stderr!.on('data', (text: Buffer) => {
      said += text.toString();
      const found = /bootstrap\.servers=127\.0\.0\.1:(\d+)/.exec(said);
      // The topic exists since its consumer asked for it.
      if (found !== null && said.includes(`Created topic "${topic}"`)) resolve(Number(found[1]));
    });
  });
  let lines = '';
  child.stdout!.setEncoding('utf8').on('data', (text: string) => void (lines += text));
  const proxy = await startProxy(port);
  return {
    url: `127.0.0.1:${proxy.port}`,
    consumed: () =>
      lines
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line) as Consumed),
    stop: async () => {
      await proxy.close();
      child.kill('SIGKILL');
      await exited;
    },
  };
}

async function startProxy(broker: number) {
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(broker, '127.0.0.1');
    const asked = new Set<number>();
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => socket.destroy());
    }
    client.on('close', () => upstream.destroy());
    upstream.on('close', () => client.destroy());
    const { port } = server.address() as AddressInfo;
    onFrames(client, (frame) => {
      if (frame.readInt16BE(4) === METADATA) asked.add(frame.readInt32BE(8));
      upstream.write(frame);
    });
    onFrames(upstream, (frame) => {
      if (asked.delete(frame.readInt32BE(4))) correct(frame, port);
      client.write(frame);
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

const METADATA = 3;

/** Calls with each whole frame, its length included. */
function onFrames(socket: Socket, take: (frame: Buffer) => void): void {
  let rest: Buffer = Buffer.alloc(0);
  socket.on('data', (bytes: Buffer) => {
    rest = Buffer.concat([rest, bytes]);
    while (rest.length >= 4 && rest.length >= 4 + rest.readInt32BE(0)) {
      const end = 4 + rest.readInt32BE(0);
      take(rest.subarray(0, end));
      rest = rest.subarray(end);
    }
  });
}

/** A metadata response of version 2 (protocol guide): brokers are at the port of the proxy, the first is the controller. */
function correct(frame: Buffer, port: number): void {
  let at = 8;
  const skipText = (): void => {
    at += 2 + Math.max(frame.readInt16BE(at), 0);
  };
  const count = frame.readInt32BE(at);
  at += 4;
  const first = frame.readInt32BE(at);
  for (let broker = 0; broker < count; broker++) {
    at += 4;
    skipText();
    frame.writeInt32BE(port, at);
    at += 4;
    skipText();
  }
  skipText();
  frame.writeInt32BE(first, at);
}
