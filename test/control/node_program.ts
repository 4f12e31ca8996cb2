import { openManagement } from '../../src/control/management.ts';
import type { PostgresOptions } from '../../src/control/store/postgres.ts';
import { redisState } from '../../src/shared_state/redis.ts';

/** How a node of a test is started. */
export interface NodeSettings {
  readonly storePath: string;
  readonly keyFile: string;
  readonly limits: PostgresOptions;
  /** The address to listen at. */
  readonly host: string;
  /** URL of the Redis server with the shared state; null: the node has its own. */
  readonly shared: string | null;
}

/** A node that serves until it is killed, or drains on SIGTERM: prints the addresses of its edge and its API. */
const { storePath, keyFile, limits, host, shared: url } = JSON.parse(process.argv[2]!) as NodeSettings;
const say = (): void => {};
const shared = url === null ? null : await redisState({ url, whenUnavailable: 'local', say });
const management = await openManagement({
  storePath,
  sealing: { keyFile },
  storeLimits: limits,
  allowPrivateCallbacks: true,
  edge: { ...(shared && { shared }) },
});
await shared?.join(management.edge.runtime.logins);
const edge = await management.edge.listen({ port: 0, host });
const api = await management.listen({ host });
process.stdout.write(`${JSON.stringify({ api: api.url, edge: edge.port, key: management.firstKey })}\n`);
process.once('SIGTERM', () => {
  void (async () => {
    await Promise.all([edge.close(), api.close()]);
    await management.close();
    await shared?.close();
    process.exit(0);
  })();
});
