import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * Our proxy as a process: `node ours.mjs <built, or a folder of sources> <edge file as JSON> <port> <port for TLS, or 0>
 * [<file for events>]`. It is the listener that `dev` uses, without the lines that `dev` prints for people. It is not
 * TypeScript, because what takes the types out of it would stay in the process, with 11 MB.
 */
const [, , built, configFile, port, tlsPort, eventsFile] = process.argv;
const extension = existsSync(join(built, 'edgeproof.js')) ? '.js' : '.ts';
const load = (path) => import(pathToFileURL(join(built, path + extension)).href);

const { createEdge } = await load('edgeproof');
const { ndjsonSink } = await load('events/ndjson');
const { limitHeap } = await load('cli/heap_limit');
limitHeap(); // as `dev` and `serve` do
const sink = eventsFile === undefined ? null : await ndjsonSink(eventsFile);
const edge = createEdge(JSON.parse(readFileSync(configFile, 'utf8')), {
  ...(sink !== null && { onEvent: (event) => sink.write(event) }),
});
const listening = await edge.listen({
  port: Number(port),
  strictPort: true,
  ...(tlsPort !== '0' && { tls: { port: Number(tlsPort) } }),
});
process.once('SIGTERM', () => {
  void listening.close(0).then(async () => {
    await sink?.close();
    process.exit(0);
  });
});
