// Serves the counted edge from the built package, before the upstream on the port of the first argument.
import { createEdge } from '../../dist/lib/index.cjs';
import { EDGE } from './edge.mjs';

const backends = { app: { static: { address: `127.0.0.1:${process.argv[2]}` } } };
const listening = await createEdge({ ...EDGE, backends }).listen();
process.stdout.write(`${listening.port}\n`);
process.once('SIGTERM', () => void listening.close(0));
