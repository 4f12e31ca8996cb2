import { createServer } from 'node:net';

/**
 * The floor of Node for memory with idle connections: a server of node:net that parses nothing, has no upstream, and
 * responds to each read with the same 1 kB: `node bare_server.mjs <port>`.
 */
const [, , port] = process.argv;
const response = `HTTP/1.1 200 OK\r\ncontent-length: 1024\r\n\r\n${'x'.repeat(1_024)}`;

createServer({ noDelay: true }, (socket) => {
  socket.on('error', () => socket.destroy());
  socket.on('data', () => void socket.write(response, 'latin1'));
}).listen({ port: Number(port), host: '127.0.0.1', backlog: 4_096 });
