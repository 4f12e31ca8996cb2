import { once } from 'node:events';
import { type ConnectionOptions, type TLSSocket, connect } from 'node:tls';

/** Node supports this option of `net.connect` here too; its types do not have it. */
const HALF_OPEN = { allowHalfOpen: true } as ConnectionOptions;

/**
 * A TLS client, or the error that ended its session; in TLS 1.3 it arrives after the client has finished its handshake.
 */
export async function secure(options: ConnectionOptions): Promise<TLSSocket> {
  const socket = connect({ host: '127.0.0.1', ...options, ...HALF_OPEN });
  await Promise.race([
    once(socket, 'secureConnect'),
    once(socket, 'close').then(() => Promise.reject(new Error('closed in the handshake'))),
  ]);
  return socket;
}

/** The alert or other error that ends a session when a request is sent on it. */
export function failure(options: ConnectionOptions): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', ...options });
    let text = '';
    socket.on('secureConnect', () => socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'));
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    socket.on('close', () => resolve(text === '' ? 'closed' : `answered: ${text.split('\r\n')[0]}`));
  });
}

/** Sends one request and gives status, headers and body of the response. */
export async function request(
  socket: TLSSocket,
  head: string,
): Promise<{ readonly status: number; readonly text: string }> {
  let text = '';
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  socket.write(`${head}\r\nConnection: close\r\n\r\n`);
  await once(socket, 'end');
  socket.end();
  return { status: Number(text.slice(9, 12)), text };
}
