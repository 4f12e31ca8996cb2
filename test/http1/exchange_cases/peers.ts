import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Running, freePorts, start, untilListening, whereIs } from '../../../bench/ingress/processes.ts';

/** A server to compare with; it has several sites, so that cases run in parallel. */
export interface Peer {
  readonly name: string;
  readonly version: string;
  readonly sites: readonly PeerSite[];
  stop(): Promise<void>;
}

export interface PeerSite {
  readonly port: number;
  /** The port that it forwards to; the player of a case listens there. */
  readonly upstreamPort: number;
}

const SITES = 16;

interface Kind {
  readonly name: string;
  readonly program: string;
  readonly version: RegExp;
  readonly versionFlag: string;
  readonly configuration: (sites: readonly PeerSite[], folder: string) => string;
  readonly args: (file: string, folder: string) => readonly string[];
}

// table: servers
const KINDS: readonly Kind[] = [
  {
    name: 'nginx',
    program: 'nginx',
    version: /nginx\/(\S+)/,
    versionFlag: '-v',
    configuration: nginxConfiguration,
    args: (file, folder) => ['-c', file, '-p', folder, '-e', 'stderr'],
  },
  {
    name: 'HAProxy',
    program: 'haproxy',
    version: /version (\d[\d.]*)/,
    versionFlag: '-v',
    configuration: haproxyConfiguration,
    args: (file) => ['-f', file],
  },
];

/** Starts the installed servers, each with its own configuration; `absent` has the names of the others. */
export async function startPeers(): Promise<{
  readonly peers: readonly Peer[];
  readonly absent: readonly string[];
}> {
  const here = KINDS.filter(({ program }) => whereIs(program) !== null);
  const absent = KINDS.filter((kind) => !here.includes(kind)).map(({ name }) => name);
  return { peers: await Promise.all(here.map(startPeer)), absent };
}

async function startPeer(kind: Kind): Promise<Peer> {
  const folder = mkdtempSync(join(tmpdir(), 'proxy-peer-'));
  mkdirSync(join(folder, 'temporary'));
  const ports = await freePorts(2 * SITES);
  const sites = Array.from({ length: SITES }, (_, index) => ({
    port: ports[2 * index]!,
    upstreamPort: ports[2 * index + 1]!,
  }));
  const file = join(folder, 'configuration');
  writeFileSync(file, kind.configuration(sites, folder));
  const program = whereIs(kind.program)!;
  const running: Running = await start([program, ...kind.args(file, folder)], {
    core: null,
    logFile: join(folder, 'log'),
    ready: (hasEnded) => untilListening(sites[0]!.port, hasEnded),
  });
  return {
    name: kind.name,
    version: versionOf(kind, program),
    sites,
    async stop() {
      await running.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function versionOf({ versionFlag, version }: Kind, program: string): string {
  const told = execFileSync('sh', ['-c', `"${program}" ${versionFlag} 2>&1`]).toString();
  return version.exec(told)?.[1] ?? '';
}

/** A reverse proxy as in its manual, with WebSocket, heads of up to 16 kB and timeouts of one second. */
function nginxConfiguration(sites: readonly PeerSite[], folder: string): string {
  const site = ({ port, upstreamPort }: PeerSite): string => `
  upstream app${port} { server 127.0.0.1:${upstreamPort} max_fails=0; keepalive 4; }
  server { listen 127.0.0.1:${port} default_server; return 404; }
  server {
    listen 127.0.0.1:${port};
    server_name a.test;
    location / {
      proxy_pass http://app${port};
      proxy_http_version 1.1;
      proxy_set_header Host $host;
      proxy_set_header Upgrade $http_upgrade;
      proxy_set_header Connection $upgrading;
      proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
    }
  }`;
  // Started by root, its worker would run as the user nobody, who may not write into our folder.
  const asRoot = process.getuid?.() === 0 ? 'user root; ' : '';
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `${kind}_temp_path ${folder}/temporary/${kind};`,
  );
  return `${asRoot}worker_processes 1; daemon off; pid ${folder}/pid; error_log stderr crit;
events { worker_connections 1024; }
http {
  access_log off; ${temporary.join(' ')}
  client_header_timeout 1s; client_body_timeout 1s; keepalive_timeout 1s; lingering_timeout 1s;
  proxy_read_timeout 1s; proxy_connect_timeout 1s; large_client_header_buffers 4 16k;
  map $http_upgrade $upgrading { default upgrade; '' ''; }
  ${sites.map(site).join('')}
}
`;
}

function haproxyConfiguration(sites: readonly PeerSite[]): string {
  const site = ({ port, upstreamPort }: PeerSite): string => `
frontend site${port}
  bind 127.0.0.1:${port}
  option forwardfor
  http-request deny deny_status 404 unless { req.hdr(host),field(1,:) -i a.test }
  default_backend app${port}
backend app${port}
  server one 127.0.0.1:${upstreamPort}`;
  return `global
  maxconn 1000
  nbthread 1
defaults
  mode http
  retries 0
  timeout client 1s
  timeout http-request 1s
  timeout http-keep-alive 1s
  timeout server 1s
  timeout connect 1s
  timeout tunnel 1s
${sites.map(site).join('')}
`;
}
