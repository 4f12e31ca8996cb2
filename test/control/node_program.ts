import { openManagement } from '../../src/control/management.ts';
import type { PostgresOptions } from '../../src/control/store/postgres.ts';

/** How a node of a test is started. */
export interface NodeSettings {
  readonly storePath: string;
  readonly keyFile: string;
  readonly limits: PostgresOptions;
  /** The address to listen at. */
  readonly host: string;
}

/** A node that serves until it is killed, or drains on SIGTERM: prints the addresses of its edge and its API. */
const { storePath, keyFile, limits, host } = JSON.parse(process.argv[2]!) as NodeSettings;
const management = await openManagement({ storePath, sealing: { keyFile }, storeLimits: limits });
const edge = await management.edge.listen({ port: 0, host });
const api = await management.listen({ host });
process.stdout.write(`${JSON.stringify({ api: api.url, edge: edge.port, key: management.firstKey })}\n`);
process.once('SIGTERM', () => {
  void (async () => {
    await Promise.all([edge.close(), api.close()]);
    await management.close();
    process.exit(0);
  })();
});
