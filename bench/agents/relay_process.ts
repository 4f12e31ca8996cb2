import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { connect } from 'node:tls';

/** The peer of bulk transfers: TCP to TLS with two pipes. `relay_process.ts <settings as JSON>`. */
const { port, ca } = JSON.parse(process.argv[2]!) as { readonly port: number; readonly ca: string };
const server = createServer({ noDelay: true, allowHalfOpen: true }, (client) => {
  const far = connect({ port, host: '127.0.0.1', servername: 'localhost', ca });
  far.setNoDelay(true).allowHalfOpen = true;
  for (const socket of [client, far]) socket.on('error', () => (client.destroy(), far.destroy()));
  client.pipe(far).pipe(client);
}).listen(0, '127.0.0.1');
await once(server, 'listening');
process.on('message', () => {
  const { user, system } = process.cpuUsage();
  process.send!({ cpuMs: (user + system) / 1_000 });
});
process.on('disconnect', () => process.exit());
process.send!({ port: (server.address() as AddressInfo).port });
