import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';

/**
 * Prints whether output is written directly, and what arrives of it.
 * The argument `another` replaces Node's binding by one with other content.
 */
if (process.argv[2] === 'another') {
  const binding = (): object => ({ WriteWrap: Object, streamBaseState: {} });
  Object.assign(process, { binding });
}
const { DirectWriter } = await import('../../src/io/direct_writer.ts');
const { WriteBuffer } = await import('../../src/io/write_buffer.ts');

const server = createServer((socket) => void socket.pipe(process.stdout));
await once(server.listen(0, '127.0.0.1'), 'listening');
const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
await once(socket, 'connect');
const isDirect = DirectWriter.of(socket, { finished: () => undefined }) !== null;
const output = new WriteBuffer(socket, { flushed: () => undefined });
output.text(`direct: ${isDirect}, `);
output.piece(Buffer.from('and bytes'));
output.flushNow();
socket.end();
server.close();
