import { openManagement } from '../../src/control/management.ts';

/** Serves a store until it is killed: prints its address and, the first time, its key. */
const management = await openManagement({ storePath: process.argv[2]! });
const { url } = await management.listen();
process.stdout.write(`${JSON.stringify({ url, key: management.firstKey })}\n`);
