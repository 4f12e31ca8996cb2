import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { ourConfig } from './our_config.ts';
import { type Running, start, untilListening, whereIs } from './processes.ts';
import { type Ability, type Workload, isLarge } from './workloads.ts';
import { type Site, caddyArguments, haproxyArguments, nginxArguments } from './servers.ts';

export interface Contestant {
  /** As in `--only`. */
  readonly name: string;
  /** The displayed name. */
  readonly message: string;
  readonly abilities: readonly Ability[];
  /** Its workloads; all if omitted. */
  readonly only?: (workload: Workload) => boolean;
  /** Whether it becomes faster while it runs. */
  readonly compiles: boolean;
  /** Why it cannot take part on this machine, or null. */
  readonly missing: () => string | null;
  /** `built` is the folder of our build. */
  readonly command: (site: Site, allOn: boolean, built: string) => readonly string[];
}

const here = import.meta.dirname;
const packages = resolve(here, '../../node_modules');

/** The name of our edge among the contestants. */
export const OURS_NAME = 'ours';

function server(name: string, args: (site: Site, allOn: boolean) => string[]): Contestant {
  return {
    name,
    message: name,
    abilities: ['tls', 'http2', 'everything'],
    compiles: false,
    missing: () => (whereIs(name) === null ? `${name} is not installed` : null),
    command: (site, allOn) => [whereIs(name)!, ...args(site, allOn)],
  };
}

/** A proxy in a package, in node_proxy.ts under the same name. */
function node(
  name: string,
  message: string,
  needed: readonly string[],
  abilities: readonly Ability[] = [],
): Contestant {
  return {
    name,
    message,
    abilities,
    compiles: true,
    missing: () => {
      const lacking = needed.find((each) => !existsSync(join(packages, each)));
      return lacking === undefined ? null : `the package ${lacking} is not installed`;
    },
    command: (site, allOn) => [
      process.execPath,
      join(here, 'node_proxy.ts'),
      name,
      String(site.port),
      String(site.upstreamPort),
      String(site.tlsPort),
      site.certificate,
      site.key,
      ...(allOn ? [eventsFileOf(site)] : []),
    ],
  };
}

const OURS: Contestant = {
  name: OURS_NAME,
  message: 'ours',
  abilities: ['tls', 'http2', 'everything'],
  compiles: true,
  missing: () => null,
  command(site, allOn, built) {
    const config = join(site.folder, 'edge.json');
    writeFileSync(config, ourConfig(site, allOn));
    const events = allOn ? [eventsFileOf(site)] : [];
    const ports = [String(site.port), String(site.tlsPort)];
    return [process.execPath, join(here, 'ours.mjs'), built, config, ...ports, ...events];
  },
};

/** Packages have no goals where each request has a connection of its own, which costs the system most, or much content. */
function isKept(workload: Workload): boolean {
  return workload.perConnection === 0 && !isLarge(workload);
}

/**
 * What can be forwarded without being parsed. A proxy that reads nothing does not see `Connection: close`, and would keep
 * connections that others must open again.
 */
function isUnread({ allOn, protocol, perConnection }: Workload): boolean {
  return !allOn && protocol !== 'http2' && perConnection === 0;
}

/** Plain or TLS, with a connection for each request. */
function isNewEach({ allOn, protocol, perConnection }: Workload): boolean {
  return !allOn && protocol !== 'http2' && perConnection === 1;
}

/** All contestants; the others are shown as a ratio to nginx. */
export const CONTESTANTS: readonly Contestant[] = [
  OURS,
  server('nginx', (site, allOn) => nginxArguments(site, allOn)),
  {
    ...server('nginx', (site, allOn) => nginxArguments(site, allOn, { buffers: '' })),
    name: 'nginx_buffers',
    message: 'nginx with as many buffers as it has by itself',
    only: ({ path }) => path === '/100k',
  },
  server('haproxy', haproxyArguments),
  server('caddy', caddyArguments),
  {
    ...node('splice', 'node:net or node:tls alone: bytes passed on unread', [], ['tls']),
    only: isUnread,
  },
  {
    ...node('relay', 'node:net or node:tls alone: one request read from each connection', [], ['tls']),
    only: isNewEach,
  },
  {
    ...node('undici', 'node:http + undici dispatch', ['undici']),
    only: ({ perConnection }) => perConnection === 0,
  },
  {
    ...node('undici_obvious', 'node:http + undici, the obvious way', ['undici'], ['everything']),
    only: (workload) => !isLarge(workload),
  },
  { ...node('fast-proxy', 'fast-proxy', ['fast-proxy']), only: isKept },
  { ...node('fastify', '@fastify/http-proxy', ['fastify', '@fastify/http-proxy']), only: isKept },
  { ...node('http-proxy-3', 'http-proxy-3', ['http-proxy-3']), only: isKept },
];

/** An earlier version of our edge, built elsewhere. */
export function oursBefore(builtBefore: string): Contestant {
  return {
    ...OURS,
    name: 'before',
    message: 'ours, before',
    command: (site, allOn) => OURS.command(site, allOn, builtBefore),
  };
}

/** Where a contestant writes an event, or a log line, per request when all modules are on. */
export function eventsFileOf({ folder }: Site): string {
  return join(folder, 'events.ndjson');
}

/** Starts one on a core, and waits until it listens. */
export function startContestant(
  contestant: Contestant,
  site: Site,
  { allOn, built, core }: { readonly allOn: boolean; readonly built: string; readonly core: number | null },
): Promise<Running> {
  rmSync(eventsFileOf(site), { force: true });
  // HAProxy writes its log to standard output only, or to a socket.
  const logFile =
    contestant.name === 'haproxy' && allOn
      ? eventsFileOf(site)
      : join(site.folder, `${contestant.name.replaceAll(/\W+/g, '_')}.log`);
  return start(contestant.command(site, allOn, built), {
    core,
    logFile,
    environment: environmentOf(site),
    ready: async (hasEnded) => {
      await untilListening(site.port, hasEnded);
      const isListeningForTls = site.tlsPort > 0 && contestant.abilities.includes('tls');
      if (isListeningForTls) await untilListening(site.tlsPort, hasEnded);
    },
  });
}

/** The common environment: one core for Go too, nothing from the user's folders. */
export function environmentOf({ folder }: Site): Readonly<Record<string, string>> {
  return { GOMAXPROCS: '1', NODE_ENV: 'production', XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
}
