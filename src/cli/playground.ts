import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Command } from 'commander';
import { elapsedMs } from '../project_files/run_scenarios.ts';
import { type PageFiles, readPageFiles, sendPageFile, sendStatus } from '../server/pages.ts';
import { EXIT } from './exit_codes.ts';
import { OutputError } from './failure.ts';
import { makeFolder } from './folders.ts';
import { refuseBeside } from './option_conflicts.ts';
import { readPort } from './option_values.ts';
import { untilShutdown } from './shutdown.ts';
import { stdout } from './output.ts';
import { writeText } from './write_file.ts';

const PAGES = new URL('../../dist/playground/', import.meta.url);
/** The package has the editor once: this page and the inspector load the same file. */
const WITH_EDITOR = new URL('../../dist/inspector/', import.meta.url);
const EDITOR = /^\/editor-/;
const PORT = 4180;

interface Options {
  readonly port?: number;
  readonly out?: string;
}

export function register(command: Command): void {
  command
    .option('-p, --port <port>', 'port on the loopback; 0 takes a free one', readPort, PORT)
    .option('-o, --out <folder>', 'write the page to a folder, to be published by any web server, and end')
    .action(async ({ port = PORT, out }: Options) => {
      if (out !== undefined) refuseBeside(command, '--out', ['--port']);
      process.exitCode = await (out === undefined ? serve(port) : write(out));
    });
}

async function write(folder: string): Promise<number> {
  const files = await loaded();
  makeFolder(folder);
  for (const [path, content] of files) writeText(join(folder, path), content);
  stdout.write(`wrote the playground to ${folder}; any web server can publish it as it is\n`);
  return EXIT.ok;
}

async function serve(port: number): Promise<number> {
  const beganMs = elapsedMs();
  const files = await loaded();
  const server = createServer((request, response) => respond(request, response, files));
  await listen(server, port);
  const { port: own } = server.address() as AddressInfo;
  const ms = Math.ceil(elapsedMs() - beganMs);
  stdout.write(`edgeproof playground, ready in ${ms} ms\n\n  ➜  http://localhost:${own}/\n`);
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

/** The files of the page; throws OutputError if it is not built. */
async function loaded(): Promise<PageFiles> {
  const files = await readPageFiles(PAGES);
  if (files.size === 0)
    throw new OutputError('the page is not built; in a clone of the project run `npm run build` first');
  const editor = [...(await readPageFiles(WITH_EDITOR))].filter(([path]) => EDITOR.test(path));
  return new Map([...files, ...editor]);
}

/** Names by which a browser reaches this machine; another Host may be an attack by DNS rebinding. */
const OWN_HOST = /^(?:localhost|127\.0\.0\.1)(?::\d+)?$/;

function respond(request: IncomingMessage, response: ServerResponse, files: PageFiles): void {
  if (OWN_HOST.test(request.headers.host ?? '')) sendPageFile(request, response, files);
  else sendStatus(response, 421);
}
