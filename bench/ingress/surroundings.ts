import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { issueCertificate } from '../../src/crypto/issue_certificate.ts';
import { HOST } from './everything_on.ts';
import { type Running, freePorts, start, untilListening } from './processes.ts';
import type { Site } from './servers.ts';

const DAY_MS = 86_400_000;

/** Everything that contestants and load need. */
export interface Surroundings {
  readonly folder: string;
  /** The folder of our proxy, built or as sources. */
  readonly built: string;
  readonly site: Site;
  /** The same with a folder and ports of its own, for one of several that run at a time. */
  siteFor(name: string): Promise<Site>;
  /** The library that is preloaded into wrk. */
  readonly sockets: string;
  /** Cores for the proxy, and for load and upstream; null if there is only one. */
  readonly proxyCore: number | null;
  readonly loadCore: number | null;
  /** The upstream's core is the load's. */
  startUpstream(): Promise<Running>;
  close(): void;
}

const here = import.meta.dirname;

/** Prepares certificate, upstream and ports, and a folder for output; `built` is our proxy. */
export async function surroundings(built: string): Promise<Surroundings> {
  const folder = mkdtempSync(join(tmpdir(), 'ingress-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const [port = 0, tlsPort = 0, upstreamPort = 0] = await freePorts(3);
  const { certificatePem: cert, privateKeyPem: key } = issueCertificate({
    commonName: HOST,
    key: 'p256',
    notBeforeMs: Date.now() - DAY_MS,
    notAfterMs: Date.now() + 30 * DAY_MS,
  });
  const files = { certificate: join(folder, 'site.pem'), key: join(folder, 'site.key') };
  writeFileSync(files.certificate, cert);
  writeFileSync(files.key, key);
  writeFileSync(`${files.certificate}.both`, `${cert}\n${key}`);
  const twoCores = availableParallelism() > 1;
  const loadCore = twoCores ? 1 : null;
  const site = { port, tlsPort, upstreamPort, folder, ...files };
  return {
    folder,
    built,
    site,
    siteFor: async (name) => {
      const own = join(folder, name.replaceAll(/\W+/g, '_'));
      mkdirSync(own, { recursive: true });
      const [ownPort = 0, ownTlsPort = 0] = await freePorts(2);
      return { ...site, folder: own, port: ownPort, tlsPort: ownTlsPort };
    },
    sockets: loadSockets(folder),
    proxyCore: twoCores ? 0 : null,
    loadCore,
    startUpstream: () => startUpstream(folder, upstreamPort, loadCore),
    close: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** The library that is preloaded into wrk. */
export function loadSockets(folder: string): string {
  return compileC('load_sockets.c', join(folder, 'load_sockets.so'), ['-shared', '-fPIC', '-ldl']);
}

function compileC(source: string, target: string, flags: readonly string[]): string {
  execFileSync('cc', ['-O2', '-o', target, join(here, source), ...flags]);
  return target;
}

/** The upstream of all contestants, which takes far less time for a request than any of them. */
export function startUpstream(folder: string, port: number, core: number | null): Promise<Running> {
  const program = join(folder, 'upstream');
  if (!existsSync(program)) compileC('upstream.c', program, []);
  return start([program, String(port)], {
    core,
    logFile: join(folder, 'upstream.log'),
    ready: (hasEnded) => untilListening(port, hasEnded),
  });
}
