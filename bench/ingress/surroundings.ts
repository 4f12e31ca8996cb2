import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { generate } from 'selfsigned';
import { HOST } from './everything_on.ts';
import { type Running, freePorts, start, untilListening, whereIs } from './processes.ts';
import type { Site } from './servers.ts';

/** All that contestants and load need around them. */
export interface Surroundings {
  readonly folder: string;
  /** The folder of our proxy, built or as sources. */
  readonly built: string;
  readonly site: Site;
  readonly sourceAddresses: string | null;
  /** Cores for the proxy, and for load and upstream; null where there is only one. */
  readonly proxyCore: number | null;
  readonly loadCore: number | null;
  /** The upstream's core is the load's. */
  startUpstream(): Promise<Running>;
  close(): void;
}

const here = import.meta.dirname;

/** Prepares certificate, upstream and ports, and a folder for what is written meanwhile; `built` is our proxy. */
export async function surroundings(built: string): Promise<Surroundings> {
  const folder = mkdtempSync(join(tmpdir(), 'ingress-'));
  const [port = 0, tlsPort = 0, upstreamPort = 0] = await freePorts(3);
  const { private: key, cert } = await generate([{ name: 'commonName', value: HOST }], { keyType: 'ec' });
  const files = { certificate: join(folder, 'site.pem'), key: join(folder, 'site.key') };
  writeFileSync(files.certificate, cert);
  writeFileSync(files.key, key);
  writeFileSync(`${files.certificate}.both`, `${cert}\n${key}`);
  const twoCores = availableParallelism() > 1;
  const loadCore = twoCores ? 1 : null;
  return {
    folder,
    built,
    site: { port, tlsPort, upstreamPort, folder, ...files },
    sourceAddresses: compileC('source_addresses.c', join(folder, 'source_addresses.so'), [
      '-shared',
      '-fPIC',
      '-ldl',
    ]),
    proxyCore: twoCores ? 0 : null,
    loadCore,
    startUpstream: () => startUpstream(folder, upstreamPort, loadCore),
    close: () => rmSync(folder, { recursive: true, force: true }),
  };
}

function compileC(source: string, target: string, flags: readonly string[]): string | null {
  const compiler = whereIs('cc');
  if (compiler === null) return null;
  execFileSync(compiler, ['-O2', '-o', target, join(here, source), ...flags]);
  return target;
}

/** The C upstream; nginx with files where there is no compiler. */
function startUpstream(folder: string, port: number, core: number | null): Promise<Running> {
  const program = join(folder, 'upstream');
  const command =
    existsSync(program) || compileC('upstream.c', program, []) !== null
      ? [program, String(port)]
      : nginxUpstream(folder, port);
  return start(command, {
    core,
    logFile: join(folder, 'upstream.log'),
    ready: (hasEnded) => untilListening(port, hasEnded),
  });
}

function nginxUpstream(folder: string, port: number): string[] {
  const nginx = whereIs('nginx');
  if (nginx === null) throw new Error('neither cc nor nginx is here to make an upstream of');
  const root = join(folder, 'upstream_root');
  mkdirSync(root, { recursive: true });
  writeFileSync(join(root, '1k'), 'All work and no play makes a dull text. \n'.repeat(25).slice(0, 1_024));
  writeFileSync(
    join(root, '100k'),
    'All work and no play makes a dull text. \n'.repeat(2_500).slice(0, 102_400),
  );
  const file = join(folder, 'upstream.conf');
  writeFileSync(
    file,
    `worker_processes 1; daemon off; pid ${folder}/upstream.pid; error_log stderr crit;
events { worker_connections 20000; }
http { access_log off; keepalive_requests 1000000000; open_file_cache max=10; default_type text/plain;
  client_body_temp_path ${folder}/ub; proxy_temp_path ${folder}/up; fastcgi_temp_path ${folder}/uf; uwsgi_temp_path ${folder}/uu; scgi_temp_path ${folder}/us;
  server { listen 127.0.0.1:${port}; root ${root}; location /post { return 200 "ok"; } } }
`,
  );
  return [nginx, '-c', file, '-p', folder, '-e', 'stderr'];
}
