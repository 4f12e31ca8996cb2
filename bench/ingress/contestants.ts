import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ourConfig } from './our_config.ts';
import { type Running, start, untilListening, whereIs } from './processes.ts';
import { type Site, caddyArguments, haproxyArguments, nginxArguments } from './servers.ts';

/** What a contestant can do besides HTTP/1.1 in the clear. */
export type Ability = 'tls' | 'http2' | 'everything';

export interface Contestant {
  /** As `--only` takes it. */
  readonly name: string;
  readonly abilities: readonly Ability[];
  /** Whether it gets faster while it runs. */
  readonly compiles: boolean;
  /** Why it cannot take part on this machine, or null. */
  readonly missing: () => string | null;
  readonly command: (site: Site, allOn: boolean, built: string) => readonly string[];
}

const here = import.meta.dirname;

/** Ours among the names of contestants. */
export const OURS_NAME = 'ours';

function server(name: string, args: (site: Site, allOn: boolean) => string[], program = name): Contestant {
  return {
    name,
    abilities: ['tls', 'http2', 'everything'],
    compiles: false,
    missing: () => (whereIs(program) === null ? `${program} is not installed` : null),
    command: (site, allOn) => [whereIs(program)!, ...args(site, allOn)],
  };
}

function node(name: string, script: string, abilities: readonly Ability[] = []): Contestant {
  return {
    name,
    abilities,
    compiles: true,
    missing: () => null,
    command: ({ port, upstreamPort, folder }, allOn) => [
      process.execPath,
      join(here, 'node_proxy.ts'),
      script,
      String(port),
      String(upstreamPort),
      ...(allOn ? [join(folder, 'events.ndjson')] : []),
    ],
  };
}

/** Ours: HTTP/2 and TLS join its abilities when the listener has them. */
const OURS: Contestant = {
  name: OURS_NAME,
  abilities: ['everything'],
  compiles: true,
  missing: () => null,
  command({ port, upstreamPort, folder }, allOn, built) {
    const config = join(folder, 'edge.json');
    writeFileSync(config, ourConfig(upstreamPort, allOn));
    const events = allOn ? [join(folder, 'events.ndjson')] : [];
    return [process.execPath, join(here, 'ours.ts'), built, config, String(port), ...events];
  },
};

/** All contestants; the others are told as a ratio to nginx. */
export const CONTESTANTS: readonly Contestant[] = [
  OURS,
  server('nginx', nginxArguments),
  server('haproxy', haproxyArguments),
  server('caddy', caddyArguments),
  node('undici', 'undici_dispatch'),
  node('undici_obvious', 'undici_obvious', ['everything']),
  node('fast-proxy', 'fast_proxy'),
  node('fastify', 'fastify'),
  node('http-proxy-3', 'http_proxy_3'),
];

/** Starts one on a core, and waits until it listens. */
export function startContestant(
  contestant: Contestant,
  site: Site,
  { allOn, built, core }: { readonly allOn: boolean; readonly built: string; readonly core: number | null },
): Promise<Running> {
  return start(contestant.command(site, allOn, built), {
    core,
    logFile: join(site.folder, `${contestant.name.replaceAll(/\W+/g, '_')}.log`),
    environment: {
      GOMAXPROCS: '1',
      NODE_ENV: 'production',
      XDG_DATA_HOME: site.folder,
      XDG_CONFIG_HOME: site.folder,
    },
    ready: (hasEnded) => untilListening(site.port, hasEnded),
  });
}
