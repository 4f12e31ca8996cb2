import { openManagement } from '../../src/control/management.ts';

/**
 * Serves a store until it is killed: prints its address and, the first time, its key. Clouds are at the second argument,
 * if there is one.
 */
const [, , storePath, cloud] = process.argv;
const management = await openManagement({
  storePath: storePath!,
  ...(cloud !== undefined && {
    cloud: { endpoint: () => cloud },
    allowPrivateCallbacks: true,
    delivery: { retryMs: 5 },
  }),
});
const { url } = await management.listen();
process.stdout.write(`${JSON.stringify({ url, key: management.firstKey })}\n`);
