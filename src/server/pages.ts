import { readFile, readdir } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { extname } from 'node:path';

// table: content types of the files of a page
const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
};

/** The files of a page by their path: `/index.html`. */
export type PageFiles = ReadonlyMap<string, Uint8Array>;

/** The files of a folder; empty if it is not there. */
export async function readPageFiles(folder: URL): Promise<PageFiles> {
  const names = await readdir(folder).catch(() => []);
  const entries = names.map(async (name) => [`/${name}`, await readFile(new URL(name, folder))] as const);
  return new Map(await Promise.all(entries));
}

/** Answers with a file of a page, its index at `/`; to other methods and paths with 405 and 404. */
export function sendPageFile(request: IncomingMessage, response: ServerResponse, files: PageFiles): void {
  const [asked = '/'] = (request.url ?? '/').split('?', 1);
  const path = asked === '/' ? '/index.html' : asked;
  const content = files.get(path);
  if (!['GET', 'HEAD'].includes(request.method ?? '')) return sendStatus(response, 405);
  if (content === undefined) return sendStatus(response, 404);
  response
    .writeHead(200, {
      'content-type': TYPES[extname(path)] ?? 'application/octet-stream',
      'content-length': content.length,
      'cache-control': 'no-store',
      'cross-origin-resource-policy': 'same-origin',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
    })
    .end(request.method === 'HEAD' ? undefined : content);
}

/** A refusal as text. */
export function sendStatus(response: ServerResponse, status: number): void {
  response.writeHead(status, { 'content-type': 'text/plain' }).end(`${status}\n`);
}
