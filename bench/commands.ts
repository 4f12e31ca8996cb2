import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type Server, createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { builtOrSource, ranCommand, startMs } from './command.ts';
import { emptyProcess } from './floors.ts';
import { type BenchRow, type BenchSection, figure, quantile, render, sized } from './measure.ts';

const STARTS = sized(15, 2);
const ROUTES = sized(1_000, 20);
const RANGES = sized(10_000, 200);
/** `cover` where something is left untested, and where a case fails. */
const COVER_CODES = [0, 1];

const backends = { app: { static: { address: '127.0.0.1:3000' } } };
const edgeOf = (routes: readonly object[], rest: object = {}): object => ({
  ...rest,
  backends,
  edges: { https: { shop: { hostports: ['shop.test:443'], routes } } },
});
const app = { backend: { backend_id: 'app' } };

/** Each route with a policy of three rules, and one case. */
const manyRoutes = edgeOf(
  Array.from({ length: ROUTES }, (_, at) => ({
    match_type: 'path_prefix',
    match: `/app/${at}/`,
    ...app,
    traffic_policy: {
      on_http_request: [
        {
          expressions: [`req.headers[?'x-tenant'].orValue([]).exists(t, t == 'blocked-${at}')`],
          actions: [{ type: 'deny', config: { status_code: 403 } }],
        },
        {
          expressions: ["req.method == 'DELETE'"],
          actions: [{ type: 'custom-response', config: { status_code: 405, body: 'no' } }],
        },
        { actions: [{ type: 'add-headers', config: { headers: { 'x-route': `r${at}` } } }] },
      ],
    },
  })),
);
const manyRanges = edgeOf(
  [{ match_type: 'path_prefix', match: '/', ...app, ip_restriction: { ip_policy_ids: ['net'] } }],
  {
    ip_policies: {
      net: {
        rules: Array.from({ length: RANGES }, (_, at) => ({
          cidr: `10.${at >> 8}.${at & 255}.0/24`,
          action: at % 2 === 0 ? 'allow' : 'deny',
        })),
      },
    },
  },
);
const oneCase = (edge: string, path: string, ip: string): object => ({
  edge,
  cases: [{ name: 'one', request: { path, ip }, expect: { status: 200 } }],
});

/** Starts of the command, and what it takes for large files. */
export async function run(): Promise<BenchSection> {
  const folder = mkdtempSync(join(tmpdir(), 'edgeproof-bench-'));
  try {
    const files = {
      'small.json': edgeOf([{ match_type: 'path_prefix', match: '/', ...app }]),
      'routes.json': manyRoutes,
      'routes.scenario.json': oneCase('./routes.json', '/app/1/', '192.0.2.1'),
      'ranges.json': manyRanges,
      'ranges.scenario.json': oneCase('./ranges.json', '/', '10.0.0.1'),
    };
    for (const [name, value] of Object.entries(files))
      writeFileSync(join(folder, name), JSON.stringify(value, null, 2));
    const empty = emptyProcess();
    const check = startMs(['check', 'small.json'], folder, STARTS);
    const firstByte = await firstByteMs(folder);
    const large = [
      largeRows(folder, `check, ${count(ROUTES)} routes with policies`, ['check', 'routes.json'], null),
      largeRows(
        folder,
        `cover --no-offer, the same routes`,
        ['cover', 'routes.scenario.json', '--no-offer'],
        5,
      ),
      largeRows(folder, `cover, the same routes`, ['cover', 'routes.scenario.json'], 30),
      largeRows(
        folder,
        `cover --emit-cases, the same routes`,
        ['cover', 'routes.scenario.json', '--emit-cases', 'cases.yaml'],
        30,
      ),
      largeRows(folder, `cover, ${count(RANGES)} IP rules`, ['cover', 'ranges.scenario.json'], 5),
    ];
    return {
      title: 'The command: starts and large files',
      between:
        'loading the program and compiling it, unless its compiled code is cached, and what the verb is for',
      rows: [
        figure('check of a small edge', check.ours, 'ms', { name: 'node -e 0', value: check.node }),
        figure('http, until the first proxied byte', firstByte, 'ms', empty.start),
        ...large.flatMap(({ rows }) => rows),
      ],
      notes: [
        `check: ${(check.ours / check.node).toFixed(1)} times \`node -e 0\` (goal 1.5)`,
        `first proxied byte: ${firstByte.toFixed(0)} ms (goal 100)`,
        ...large.flatMap(({ note }) => note ?? []),
        'starts are medians; compiled code is cached before, as after the first start of a user',
        'large files are JSON in lines, each run once in a process of its own',
      ],
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** From the start of `edgeproof http` to the first byte of an answer of the upstream. */
async function firstByteMs(folder: string): Promise<number> {
  const upstream = createServer((_request, response) => response.end('hello'));
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  try {
    const times: number[] = [];
    for (let turn = 0; turn < STARTS + 2; turn++) times.push(await untilFirstByte(folder, upstream));
    return quantile(times.slice(2), 0.5);
  } finally {
    upstream.close();
  }
}

async function untilFirstByte(cwd: string, upstream: Server): Promise<number> {
  const { port } = upstream.address() as AddressInfo;
  const began = performance.now();
  const child = spawn(process.execPath, [builtOrSource(), 'http', String(port), '--port', '0'], {
    cwd,
    env: { ...process.env, NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const url = await addressIn(child.stdout);
    const [response] = (await once(get(url), 'response')) as [NodeJS.ReadableStream];
    await once(response, 'data');
    return performance.now() - began;
  } finally {
    child.kill('SIGTERM');
    await once(child, 'close');
  }
}

/** The address that the command says it listens on. */
async function addressIn(output: NodeJS.ReadableStream): Promise<string> {
  let said = '';
  for await (const piece of output) {
    said += String(piece);
    const [url] = /http:\/\/\S+/.exec(said) ?? [];
    if (url !== undefined) return url;
  }
  throw new Error(`no address in: ${said}`);
}

const MOST_MIB = 400;

interface Large {
  readonly rows: readonly BenchRow[];
  readonly note: string | null;
}

/** `goalSeconds` of elapsed time; null for a row without a goal. */
function largeRows(folder: string, name: string, args: readonly string[], goalSeconds: number | null): Large {
  const { ms, cpuMs, mib } = ranCommand(folder, args, args[0] === 'cover' ? COVER_CODES : [0]);
  const { memory, start } = emptyProcess();
  return {
    rows: [
      figure(name, ms / 1_000, 's', { name: start.name, value: start.value / 1_000 }),
      figure(`${name}, processor time`, cpuMs / 1_000, 's'),
      figure(`${name}, memory`, mib, 'MiB', memory),
    ],
    note:
      goalSeconds === null
        ? null
        : `${name}: ${(ms / 1_000).toFixed(1)} s (goal ${goalSeconds}), ${mib.toFixed(0)} MiB (goal ${MOST_MIB})`,
  };
}

const count = (many: number): string => many.toLocaleString('en');

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) process.stdout.write(render(await run()));
