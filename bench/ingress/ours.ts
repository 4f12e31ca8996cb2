import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type * as EdgeproofModule from '../../src/edgeproof.ts';
import type * as NdjsonModule from '../../src/events/ndjson.ts';

/**
 * Our proxy as a process: `node ours.ts <built, or a folder of sources> <edge file as JSON> <port> <port for TLS, or 0>
 * [<file for events>]`. It is the listener that `dev` uses, without the lines that `dev` prints for people.
 */
const [, , built, configFile, port, tlsPort, eventsFile] = process.argv;
const extension = existsSync(join(built!, 'edgeproof.js')) ? '.js' : '.ts';
const load = <Module>(path: string): Promise<Module> =>
  import(pathToFileURL(join(built!, path + extension)).href) as Promise<Module>;

const { createEdge } = await load<typeof EdgeproofModule>('edgeproof');
const { ndjsonSink } = await load<typeof NdjsonModule>('events/ndjson');
const sink = eventsFile === undefined ? null : await ndjsonSink(eventsFile);
const edge = createEdge(JSON.parse(readFileSync(configFile!, 'utf8')), {
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
