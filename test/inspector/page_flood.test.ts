import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { type Socket, connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { ensureBuilt } from '../built.ts';
import { hasChromiumFor } from '../chromium.ts';
import { folderWith } from '../folder.ts';
import { IS_FULL, runs } from '../random.ts';
import { startProgram } from '../running.ts';
import { openPages, pathsOf } from './opened_page.ts';

const MAIN = join(import.meta.dirname, '../../dist/lib/main.cjs');
const RATE = 5_000;
/** A minute with EDGEPROOF_TEST_SIZE=1. */
const SECONDS = runs(60, IS_FULL ? 20 : 6);
const CONNECTIONS = 8;
const MIB = 1_048_576;
const EDGE = `backends: { app: { http_response: { status_code: 200, body: fine } } }
edges:
  https:
    shop:
      hostports: ['shop.test:443']
      routes: [{ match_type: path_prefix, match: /, backend: { backend_id: app } }]
`;

test.skipIf(!hasChromiumFor('a flood before the inspector’s page'))(
  '5,000 requests a second, a page, and a page that never reads: the memory of both sides is bounded',
  async () => {
    await ensureBuilt();
    const folder = folderWith();
    writeFileSync(join(folder, 'edge.yaml'), EDGE);
    const args = [MAIN, 'dev', 'edge.yaml', '--port', '0', '--inspector', '0', '--no-tls', '--no-watch'];
    const dev = startProgram(process.execPath, args, folder);
    onTestFinished(async () => void (await dev.stop('SIGKILL')));
    const [, edgeUrl = '', pageUrl = ''] = await dev.waitFor(
      /ready in \d+ ms +(http:\S+)[^]*?(http:\S+#token=\w+)/,
    );
    const pages = await openPages();
    onTestFinished(() => pages.close());
    const page = await pages.open(pageUrl);
    await neverRead(pageUrl);
    const memory = async () => ({
      server: residentMib(dev.process.pid!),
      page: Number(await page.evaluate('performance.memory.usedJSHeapSize')) / MIB,
    });
    const sent = await flood(Number(new URL(edgeUrl).port), (SECONDS * RATE) / 2);
    const half = await memory();
    const more = await flood(Number(new URL(edgeUrl).port), (SECONDS * RATE) / 2);
    const end = await memory();
    expect(sent + more).toBe(SECONDS * RATE);
    // The 64 MiB that are kept, what the collector has not yet freed, and the 1 MiB that waits for a page.
    expect(end.server).toBeLessThan(700);
    expect(end.server - half.server).toBeLessThan(250);
    expect(end.page).toBeLessThan(200);
    // The page follows: it has the last request, says what it does not have, and answers.
    await expect
      .poll(() => pathsOf(page).then(([first]) => first), { timeout: 20_000 })
      .toMatch(/^\/items\//);
    await expect.poll(() => page.locator('.counts').innerText()).toMatch(/left the page|not kept/);
    await (await fetch(`${edgeUrl}/last`, { headers: { connection: 'close' } })).text();
    await expect.poll(() => pathsOf(page).then(([first]) => first), { timeout: 20_000 }).toBe('/last');
    expect(pages.complaints).toEqual([]);
  },
  240_000,
);

function residentMib(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1_024;
}

/** Opens a feed and does not read it. */
async function neverRead(pageUrl: string): Promise<void> {
  const { origin, hash } = new URL(pageUrl);
  const headers = { authorization: `Bearer ${hash.slice('#token='.length)}` };
  const sent = request(`${origin}/api/feed`, { headers, agent: false });
  onTestFinished(() => void sent.destroy());
  sent.end();
  const [response] = (await once(sent, 'response')) as [{ pause: () => void }];
  response.pause();
}

/** Sends requests at the rate over several connections; returns how many were answered. */
async function flood(port: number, count: number): Promise<number> {
  const sockets: Socket[] = [];
  let answered = 0;
  for (let at = 0; at < CONNECTIONS; at++) {
    const socket = connect(port, '127.0.0.1');
    socket.setEncoding('latin1').on('data', (text: unknown) => {
      answered += String(text).split('fine').length - 1;
    });
    await once(socket, 'connect');
    sockets.push(socket);
  }
  const began = performance.now();
  for (let sent = 0; sent < count;) {
    const due = Math.min(count, Math.ceil(((performance.now() - began) * RATE) / 1_000));
    // A machine that is slower than the rate is asked for what it can do.
    for (; sent < due && sent - answered < 2_000; sent++)
      sockets[sent % CONNECTIONS]!.write(`GET /items/${sent} HTTP/1.1\r\nHost: shop.test\r\n\r\n`);
    await after(5);
  }
  await expect.poll(() => answered, { timeout: 30_000 }).toBe(count);
  for (const socket of sockets) socket.destroy();
  return answered;
}
