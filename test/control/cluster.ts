import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { PostgresOptions } from '../../src/control/store/postgres.ts';
import { type Namespace, makeNamespace } from './namespace.ts';
import type { NodeSettings } from './node_program.ts';
import { type Relay, relayTo } from './relay.ts';
import { type PostgresServer, startPostgres } from './store/postgres_server.ts';

/** A server that the nodes use, at a port of this machine. */
interface Server {
  readonly port: number;
}

const PROGRAM = fileURLToPath(new URL('node_program.ts', import.meta.url));

/** An answer; null if none came. */
type Heard = { readonly status: number; readonly headers: Headers; readonly text: string } | null;

/** A node in a process of its own, whose links to its servers can be cut. */
export interface ClusterNode {
  /** The link to the database. */
  readonly relay: Relay;
  /** All links: to the database, to Redis and to NATS. */
  readonly links: readonly Relay[];
  /** Its network; null if it shares that of the test. */
  readonly namespace: Namespace | null;
  readonly api: (method: string, path: string, body?: object) => Promise<Heard>;
  /** What the edge answers on a connection of its own; null if it does not. */
  readonly edge: () => Promise<string | null>;
  /** Number of the process, from 1. */
  readonly life: () => number;
  readonly isUp: () => boolean;
  readonly kill: () => Promise<void>;
  /** Drains as on SIGTERM; resolves with the exit code. */
  readonly stop: () => Promise<number | null>;
  readonly start: () => Promise<void>;
}

/** Several nodes on one database. */
export interface Cluster {
  readonly postgres: PostgresServer;
  readonly nodes: readonly ClusterNode[];
  /** The key of the secrets of the store. */
  readonly keyFile: string;
  /** The backend whose body every edge answers, and the policies that serve as registers. */
  readonly backend: string;
  readonly registers: readonly string[];
  readonly close: () => Promise<void>;
}

/** What a cluster is started with. */
export interface ClusterOptions {
  readonly limits?: PostgresOptions;
  /** Each node has a network of its own. */
  readonly inNamespaces?: boolean;
  /** Limits are counted in this Redis. */
  readonly redis?: Server | null;
  /** Audit events of IP policies go to the subject `edge.audit` of this NATS. */
  readonly nats?: Server | null;
}

/** Short times, so that a link that is silent is given up soon. */
const LIMITS: PostgresOptions = { connectMs: 2_000, answerMs: 2_000, lockMs: 2_000 };

/** Counts every request, and denies none. */
const COUNTED = {
  on_http_request: [
    {
      actions: [
        {
          type: 'rate-limit',
          config: {
            name: 'all',
            algorithm: 'sliding_window',
            capacity: 1_000_000,
            rate: '60s',
            bucket_key: ['conn.client_ip'],
          },
        },
      ],
    },
  ],
};

/** Starts a database and nodes; all edges answer for `app.test` what one backend says, at first `v0`. */
export async function startCluster(
  programs: string,
  count: number,
  { limits = {}, inNamespaces = false, redis = null, nats = null }: ClusterOptions = {},
): Promise<Cluster> {
  const folder = mkdtempSync(join(tmpdir(), 'edgeproof-cluster-'));
  const postgres = await startPostgres(programs);
  const keyFile = join(folder, 'key');
  const keys = { api: '' };
  const nodes: ClusterNode[] = [];
  const queues: string[] = [];
  for (let index = 0; index < count; index++) {
    const namespace = inNamespaces ? makeNamespace(index) : null;
    const { databaseHost = '127.0.0.1', address = '127.0.0.1' } = namespace ?? {};
    const linkTo = (port: number) => relayTo(port, '127.0.0.1', databaseHost);
    const relay = await linkTo(postgres.port);
    const toRedis = redis && (await linkTo(redis.port));
    const toNats = nats && (await linkTo(nats.port));
    const url = new URL(postgres.url);
    url.host = `${databaseHost}:${relay.port}`;
    const settings = {
      storePath: url.href,
      keyFile,
      limits: { ...LIMITS, ...limits },
      host: address,
      shared: toRedis && `redis://${databaseHost}:${toRedis.port}`,
    };
    if (toNats) queues.push(`nats://${databaseHost}:${toNats.port}`);
    const links = [relay, toRedis, toNats].filter((link) => link !== null);
    const node = nodeOn(links, settings, keys, namespace);
    // The first one makes the account and the key of its secrets.
    await node.start();
    nodes.push(node);
  }
  const make = async (path: string, body: object): Promise<string> => {
    const heard = await nodes[0]!.api('POST', path, body);
    if (heard?.status !== 201) throw new Error(`POST ${path}: ${heard?.text}`);
    return (JSON.parse(heard.text) as { id: string }).id;
  };
  const backend = await make('/backends/http_response', { body: 'v0' });
  const edge = await make('/edges/https', { hostports: ['app.test:443'] });
  const route = {
    match_type: 'path_prefix',
    match: '/',
    backend: { backend_id: backend },
    ...(redis && { traffic_policy: { enabled: true, value: JSON.stringify(COUNTED) } }),
  };
  await make(`/edges/https/${edge}/routes`, route);
  if (queues.length > 0) {
    const target = { nats: { servers: queues, subject: 'edge.audit' } };
    const destination = await make('/event_destinations', { target });
    const sources = [{ type: 'ip_policy_updated.v0' }];
    await make('/event_subscriptions', { sources, destination_ids: [destination] });
  }
  const registers: string[] = [];
  for (let number = 0; number < 3; number++) registers.push(await make('/ip_policies', { description: '' }));
  return {
    postgres,
    nodes,
    keyFile,
    backend,
    registers,
    close: async () => {
      await Promise.all(nodes.map((node) => node.kill()));
      await Promise.all(nodes.flatMap(({ links }) => links.map((link) => link.close())));
      for (const { namespace } of nodes) namespace?.remove();
      await postgres.remove();
      rmSync(folder, { recursive: true });
    },
  };
}

function nodeOn(
  links: readonly Relay[],
  settings: NodeSettings,
  keys: { api: string },
  namespace: Namespace | null,
): ClusterNode {
  let child: ChildProcess | null = null;
  let places = { api: '', edge: 0 };
  let life = 0;
  let isReady = false;
  const isRunning = (): boolean => child !== null && child.exitCode === null && child.signalCode === null;
  const ended = async (signal: NodeJS.Signals): Promise<number | null> => {
    isReady = false;
    if (!isRunning()) return null;
    const exit = once(child!, 'exit');
    child!.kill(signal);
    return ((await exit) as [number | null])[0];
  };
  return {
    relay: links[0]!,
    links,
    namespace,
    life: () => life,
    isUp: () => isReady,
    kill: async () => void (await ended('SIGKILL')),
    stop: () => ended('SIGTERM'),
    start: async () => {
      const [command, ...before] = namespace?.command ?? [];
      const program = [PROGRAM, JSON.stringify(settings)];
      const args = command === undefined ? program : [...before, process.execPath, ...program];
      child = spawn(command ?? process.execPath, args, {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const line = await Promise.race([once(child.stdout!, 'data'), once(child, 'exit')]);
      if (typeof line[0] === 'number') throw new Error(`a node ended with ${line[0]}`);
      const said = JSON.parse(String(line[0])) as { api: string; edge: number; key: string | null };
      places = said;
      if (said.key !== null) keys.api = said.key;
      life++;
      isReady = true;
    },
    api: async (method, path, body) => {
      try {
        const response = await fetch(places.api + path, {
          method,
          headers: {
            authorization: `Bearer ${keys.api}`,
            'service-version': '2',
            ...(body && { 'content-type': 'application/json' }),
          },
          ...(body && { body: JSON.stringify(body) }),
        });
        return { status: response.status, headers: response.headers, text: await response.text() };
      } catch {
        return null;
      }
    },
    edge: () => asked(places.edge, settings.host),
  };
}

function asked(port: number, host: string): Promise<string | null> {
  return new Promise((resolve) => {
    const options = { port, host, headers: { host: 'app.test' }, agent: false };
    const sent = request(options, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => (text += part));
      response.on('end', () => resolve(response.statusCode === 200 ? text : null));
      response.on('error', () => resolve(null));
    });
    sent.on('error', () => resolve(null));
    sent.end();
  });
}
