import { mkdtempSync, writeFileSync } from 'node:fs';
import { Agent, createServer, get } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { checkWholeEdge } from '../../src/edge/semantic_checks.ts';
import { usable } from '../../src/edgeproof.ts';
import { createSimulator } from '../../src/simulator/create_simulator.ts';
import { startProgram } from '../../test/running.ts';
import { ownRedis } from '../../test/shared_state/redis_server.ts';

/**
 * Whether the simulator predicts what several nodes admit: `node bench/shared_state/predicted.ts [seconds] [per second]`. Four
 * processes of `dev` get requests in turn at a steady pace, for two and a half windows of a rate limit by default; the
 * simulator gets the same requests at the same times of its clock.
 */
const [seconds = 150, perSecond = 400] = process.argv.slice(2).map(Number);
const NODES = 4;
const CAPACITY = Math.round(perSecond * 15);
const MAIN = join(import.meta.dirname, '../../src/cli/main.ts');
const URL = 'https://shop.test/';

const upstream = createServer((_request, response) => response.end('the app')).listen(0, '127.0.0.1');
await once(upstream, 'listening');
const limit = {
  name: 'all',
  algorithm: 'sliding_window',
  capacity: CAPACITY,
  rate: '60s',
  bucket_key: ['req.host'],
};
const limited = { on_http_request: [{ actions: [{ type: 'rate-limit', config: limit }] }] };
const route = {
  match_type: 'path_prefix',
  match: '/',
  traffic_policy: { value: JSON.stringify(limited) },
  backend: { backend_id: 'app' },
};
const address = `127.0.0.1:${(upstream.address() as AddressInfo).port}`;
const value = {
  backends: { app: { static: { address } } },
  edges: { https: { shop: { hostports: ['shop.test:443'], routes: [route] } } },
};
const { config } = usable(checkWholeEdge({ value }));
const folder = mkdtempSync(join(tmpdir(), 'edgeproof-predicted-'));
writeFileSync(join(folder, 'edge.yaml'), JSON.stringify(value));

const redis = await ownRedis();
const WAYS = [
  { limits: 'shared', options: ['--shared', redis.url, '--shared-unavailable', 'deny'] },
  { limits: 'local', options: [] },
] as const;
for (const { limits, options } of WAYS) {
  const { startMs, admitted, failed } = await measured(options);
  const simulator = createSimulator(
    { config },
    { clock: startMs, nodes: { count: NODES, limits, spread: 'round_robin' } },
  );
  const predicted = simulator
    .sendMany({ url: URL }, seconds * perSecond, 1_000 / perSecond)
    .filter(({ status }) => status === 200).length;
  const off = ((100 * (predicted - admitted)) / admitted).toFixed(2);
  const of = `${seconds * perSecond} requests in ${seconds} s at ${NODES} nodes`;
  console.log(
    `limits ${limits}, ${of}: admitted ${admitted}, predicted ${predicted} (${off} %), failed ${failed}`,
  );
}
await redis.close();
upstream.close();

/** Sends the requests to processes in turn. */
async function measured(options: readonly string[]) {
  const nodes = Array.from({ length: NODES }, () =>
    startProgram(
      process.execPath,
      [MAIN, 'dev', 'edge.yaml', '--port', '0', '--no-watch', ...options],
      folder,
    ),
  );
  const urls = await Promise.all(
    nodes.map(async (node) => (await node.waitFor(/ready in \d+ ms {2}(http:\S+)/))[1]!),
  );
  const agent = new Agent({ keepAlive: true, maxSockets: 16 });
  const send = (url: string): Promise<number> =>
    new Promise((resolve) => {
      get(url, { agent, headers: { host: 'shop.test' } }, (response) => {
        response.resume().once('end', () => resolve(response.statusCode!));
      }).once('error', () => resolve(0));
    });
  const startMs = Date.now();
  const began = performance.now();
  const sent: Promise<number>[] = [];
  while (sent.length < seconds * perSecond) {
    const due = Math.floor(((performance.now() - began) / 1_000) * perSecond) + 1;
    while (sent.length < Math.min(due, seconds * perSecond)) sent.push(send(urls[sent.length % NODES]!));
    await pause(1);
  }
  const statuses = await Promise.all(sent);
  agent.destroy();
  for (const node of nodes) await node.stop('SIGTERM');
  const count = (isOne: (status: number) => boolean) => statuses.filter(isOne).length;
  return {
    startMs,
    admitted: count((status) => status === 200),
    failed: count((status) => status !== 200 && status !== 429),
  };
}
