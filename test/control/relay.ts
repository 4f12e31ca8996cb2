import { once } from 'node:events';
import { type AddressInfo, type Socket, connect, createServer } from 'node:net';

/** A TCP relay that can be cut. */
export interface Relay {
  readonly port: number;
  /** Closes all connections, and every new one at once. */
  readonly cut: () => void;
  /** Passes a client's next bytes with this text on, cuts before the answer, and lets new connections through. */
  readonly cutAfter: (text: string) => void;
  /** Lets no byte through in either direction, and closes nothing. */
  readonly hold: () => void;
  readonly mend: () => void;
  readonly close: () => Promise<void>;
}

/** Relays a port of this machine, at an address of it. */
export async function relayTo(port: number, host = '127.0.0.1', at = '127.0.0.1'): Promise<Relay> {
  const sockets = new Set<Socket>();
  let [isCut, isHeld] = [false, false];
  let last: string | null = null;
  const server = createServer((client) => {
    if (isCut) return void client.destroy();
    const upstream = connect(port, host);
    const ends = [client, upstream];
    let isSilent = false;
    for (const [index, end] of ends.entries()) {
      const other = ends[1 - index]!;
      sockets.add(end);
      end.setNoDelay(true);
      end.on('error', () => other.destroy());
      end.on('close', () => {
        sockets.delete(end);
        other.destroy();
      });
      end.on('data', (bytes) => {
        if (isHeld) return;
        if (end === client && last !== null && bytes.includes(last)) {
          last = null;
          isSilent = true;
        }
        // The answer is lost; that it was given shows that the server has read the request.
        if (isSilent && end === upstream) return void client.destroy();
        other.write(bytes);
      });
    }
  });
  server.listen(0, at);
  await once(server, 'listening');
  const drop = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    cut: () => {
      isCut = true;
      drop();
    },
    cutAfter: (text) => {
      last = text;
    },
    hold: () => {
      isHeld = true;
    },
    mend: () => {
      // What was held is lost, so those connections cannot go on.
      if (isHeld) drop();
      [isCut, isHeld, last] = [false, false, null];
    },
    close: async () => {
      drop();
      server.close();
      await once(server, 'close');
    },
  };
}
