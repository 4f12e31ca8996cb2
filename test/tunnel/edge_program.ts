import { once } from 'node:events';
import { writeSync } from 'node:fs';
import { localAuthority, serverCertificate } from '../../src/cli/local_authority.ts';
import { openManagement } from '../../src/control/management.ts';

/** Where a killed edge was, and where the next one is. */
export interface EdgePlace {
  readonly storePath: string;
  readonly folder: string;
  /** Zero for any. */
  readonly port: number;
  readonly agentsPort: number;
}

// An edge with the API and agents, in a process that is killed. It stands by until it gets its place; what it then does is
// what `serve` does. Each event is one line on its standard output, written before the next request is read.
process.send!('standing by');
const [{ storePath, folder, port, agentsPort }] = (await once(process, 'message')) as [EdgePlace];
const management = await openManagement({
  storePath,
  service: 'ngrok',
  agents: { reservedOnly: false },
  edge: { onEvent: ({ object }) => void writeSync(1, `${JSON.stringify(object.http.request)}\n`) },
});
const authority = await localAuthority(folder);
const certificateFor = async (host: string) => serverCertificate(authority, host);
const listening = await management.edge.listen({
  port,
  strictPort: port !== 0,
  agents: { port: agentsPort, certificateFor },
});
const token = management.firstKey === null ? null : await management.createCredential('For the test.');
process.on('message', () => process.send!({ resources: process.getActiveResourcesInfo() }));
process.send!({ port: listening.port, agentsPort: listening.agentsPort, token, root: authority.file });
