import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { commandLineOf } from './build.ts';
import { type Contestant, OURS_NAME, environmentOf, startContestant } from './contestants.ts';
import { HOST } from './everything_on.ts';
import { load } from './load.ts';
import { ourConfig } from './our_config.ts';
import { endWithUs, rssMb, start } from './processes.ts';
import type { Surroundings } from './surroundings.ts';
import { WORKLOADS } from './workloads.ts';

/** The costs of a proxy before and between requests. */
export interface Standing {
  readonly name: string;
  readonly startMs: number;
  readonly idleRssMb: number;
  readonly idleConnections: number;
}

/** The floor of Node: everything but what a proxy does. */
const BARE: Contestant = {
  name: 'net',
  message: 'node:net alone: a server without an upstream',
  abilities: [],
  compiles: true,
  missing: () => null,
  command: ({ port }) => [process.execPath, join(import.meta.dirname, 'bare_server.mjs'), String(port)],
};
const NAMES: ReadonlySet<string> = new Set([OURS_NAME, 'nginx', 'haproxy', 'caddy', 'undici']);
/** HAProxy reserves two descriptors for each connection, and refuses more than its limit has. */
const HAPROXY_IDLE = 9_500;
const LOAD_SECONDS = 2;
const ANSWER_BYTES = 1_024;
const ANSWER_WITHIN_MS = 2_000;

/** Time from the start of the process to the first proxied byte, and memory with many idle connections and load. */
export async function standing(
  contestants: readonly Contestant[],
  around: Surroundings,
  { rounds, idle }: { readonly rounds: number; readonly idle: number },
): Promise<Standing[]> {
  const upstream = await around.startUpstream();
  const idleConnections = Math.min(idle, descriptors() - 1_000);
  try {
    const all: Standing[] = [];
    const chosen = contestants.filter((each) => NAMES.has(each.name) && each.missing() === null);
    for (const contestant of [...chosen, BARE]) {
      const times: number[] = [];
      for (let round = 0; round < rounds; round++) times.push(await startMs(contestant, around));
      const startMedian = times.toSorted((one, other) => one - other)[rounds >> 1]!;
      const most = contestant.name === 'haproxy' ? Math.min(idleConnections, HAPROXY_IDLE) : idleConnections;
      all.push({
        name: contestant.name,
        startMs: startMedian,
        ...(await withIdle(contestant, around, most)),
      });
    }
    return all;
  } finally {
    await upstream.stop();
  }
}

function descriptors(): number {
  return Number(execFileSync('sh', ['-c', 'ulimit -n']).toString()) || 20_000;
}

/** Our edge is started as users start it: the command line, `dev` on a file. */
function commandOf(contestant: Contestant, around: Surroundings): readonly string[] {
  if (contestant.name !== OURS_NAME)
    return contestant.command({ ...around.site, tlsPort: 0 }, false, around.built);
  const file = join(around.folder, 'dev.yaml');
  writeFileSync(file, ourConfig({ ...around.site, tlsPort: 0 }, false));
  return [
    process.execPath,
    commandLineOf(around.built),
    'dev',
    file,
    '--port',
    String(around.site.port),
    '--strict-port',
    '--no-watch',
  ];
}

async function startMs(contestant: Contestant, around: Surroundings): Promise<number> {
  const command = commandOf(contestant, around);
  const began = performance.now();
  let tookMs = 0;
  const running = await start(command, {
    core: around.proxyCore,
    logFile: join(around.folder, 'start.log'),
    environment: environmentOf(around.site),
    ready: async (hasEnded) => {
      while (!(await answers(around.site.port))) {
        if (hasEnded() || performance.now() - began > 15_000) throw new Error('no answer');
      }
      tookMs = performance.now() - began;
    },
  });
  await running.stop();
  return tookMs;
}

/** Whether a whole request is now answered with the upstream's bytes. */
function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    let text = '';
    const finish = (answered: boolean): void => {
      socket.destroy();
      setTimeout(resolve, answered ? 0 : 1, answered);
    };
    socket.setTimeout(ANSWER_WITHIN_MS, () => finish(false));
    socket.on('error', () => finish(false));
    socket.on(
      'connect',
      () => void socket.write(`GET /1k HTTP/1.1\r\nHost: ${HOST}\r\nUser-Agent: Mozilla/5.0\r\n\r\n`),
    );
    socket.on('data', (bytes: Buffer) => {
      text += bytes.toString('latin1');
      const stop = text.indexOf('\r\n\r\n');
      if (stop >= 0 && text.length >= stop + 4 + ANSWER_BYTES) finish(text.startsWith('HTTP/1.1 200'));
    });
    socket.on('end', () => finish(false));
  });
}

async function withIdle(
  contestant: Contestant,
  around: Surroundings,
  count: number,
): Promise<{ idleRssMb: number; idleConnections: number }> {
  const site = { ...around.site, tlsPort: 0 };
  const running = await startContestant(contestant, site, {
    allOn: false,
    built: around.built,
    core: around.proxyCore,
  });
  const script = join(import.meta.dirname, 'idle_connections.ts');
  const pinned = around.loadCore === null ? [] : ['taskset', '-c', String(around.loadCore)];
  const command = [...pinned, process.execPath, script, String(site.port), String(count)];
  const client = spawn(command[0]!, command.slice(1), { stdio: ['ignore', 'pipe', 'inherit'] });
  endWithUs(client);
  try {
    const [line] = (await once(createInterface(client.stdout), 'line')) as [string];
    await load(WORKLOADS[0]!, site.port, {
      core: around.loadCore,
      connections: 64,
      seconds: LOAD_SECONDS,
      sockets: around.sockets,
      folder: around.folder,
    });
    return { idleRssMb: rssMb(running.pid), idleConnections: Number(line.replace('OPEN ', '')) };
  } finally {
    client.kill('SIGKILL');
    await running.stop();
  }
}
