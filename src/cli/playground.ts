import { cp, readFile, readdir } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { elapsedMs } from '../project_files/run_scenarios.ts';
import { EXIT } from './exit_codes.ts';
import { OutputError } from './failure.ts';
import { readPort } from './option_values.ts';
import { untilShutdown } from './shutdown.ts';

const PAGES = new URL('../../dist/playground/', import.meta.url);
const PORT = 4180;

// table: content types of the files of a page
const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
};

interface Options {
  readonly port?: number;
  readonly out?: string;
}

export function register(command: Command): void {
  command
    .option('-p, --port <port>', 'port on the loopback; 0 takes a free one', readPort, PORT)
    .option('-o, --out <dir>', 'write the page to a folder, to be published by any web server, and end')
    .action(async ({ port = PORT, out }: Options) => {
      process.exitCode = await (out === undefined ? serve(port) : write(out));
    });
}

async function write(folder: string): Promise<number> {
  await loaded();
  await cp(fileURLToPath(PAGES), folder, { recursive: true });
  process.stdout.write(`wrote the playground to ${folder}; any web server can publish it as it is\n`);
  return EXIT.ok;
}

async function serve(port: number): Promise<number> {
  const beganMs = elapsedMs();
  const files = await loaded();
  const server = createServer((request, response) => respond(request, response, files));
  await listen(server, port);
  const { port: own } = server.address() as AddressInfo;
  const ms = Math.ceil(elapsedMs() - beganMs);
  process.stdout.write(`edgeproof playground, ready in ${ms} ms\n\n  ➜  http://localhost:${own}/\n`);
  const code = await untilShutdown(() => undefined);
  server.close();
  server.closeAllConnections();
  return code;
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
}

type Files = ReadonlyMap<string, Uint8Array>;

/** The files of the page by their path; throws OutputError if it is not built. */
async function loaded(): Promise<Files> {
  const names = await readdir(PAGES).catch(() => []);
  if (names.length === 0)
    throw new OutputError('the page is not built; in a clone of the project run `npm run build` first');
  const entries = names.map(async (name) => [`/${name}`, await readFile(new URL(name, PAGES))] as const);
  return new Map(await Promise.all(entries));
}

/** Names by which a browser reaches this machine; another Host may be an attack by DNS rebinding. */
const OWN_HOST = /^(?:localhost|127\.0\.0\.1)(?::\d+)?$/;

/** The status that refuses a request; null for one that gets a file. */
function refusalOf({ method = '', headers }: IncomingMessage, isThere: boolean): number | null {
  if (!OWN_HOST.test(headers.host ?? '')) return 421;
  if (!['GET', 'HEAD'].includes(method)) return 405;
  return isThere ? null : 404;
}

function respond(request: IncomingMessage, response: ServerResponse, files: Files): void {
  const [asked = '/'] = (request.url ?? '/').split('?', 1);
  const path = asked === '/' ? '/index.html' : asked;
  const content = files.get(path);
  const refusal = refusalOf(request, content !== undefined);
  if (refusal !== null) {
    response.writeHead(refusal, { 'content-type': 'text/plain' }).end(`${refusal}\n`);
    return;
  }
  response
    .writeHead(200, {
      'content-type': TYPES[extname(path)] ?? 'application/octet-stream',
      'content-length': content!.length,
      'cache-control': 'no-store',
      'cross-origin-resource-policy': 'same-origin',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
    })
    .end(request.method === 'HEAD' ? undefined : content);
}
