import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { REQUEST } from './edge.mjs';

/**
 * Counts that do not depend on how busy the machine is: bytes allocated and instructions for a decision with its
 * event, system calls for a request through the ingress. Each has a committed bound; going above it fails.
 */

const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const BOUNDS = here('bounds.json');
/** Bounds are set this much above the counted value; a bound that is further above is reported as loose. */
const MARGIN = 1.05;
const LOOSE = 0.8;
/** V8 without its compilers, threads and randomness: the same instructions every time. */
const REPEATABLE = ['--jitless', '--single-threaded', '--predictable', '--hash-seed=1', '--random-seed=1'];

export interface Count {
  readonly name: string;
  /** Null if the counting program is not installed. */
  readonly value: number | null;
  readonly why?: string;
}

/** Counts everything that can be counted on this machine. */
export async function counts(): Promise<readonly Count[]> {
  if (!existsSync(here('../../dist/lib/index.cjs')))
    throw new Error('the package is not built: npm run build');
  return [
    { name: 'bytes allocated per decision with event', value: allocatedBytes() },
    counted('instructions per decision with event, interpreted', 'valgrind', instructions),
    await countedLater('system calls per request through the ingress', 'strace', systemCalls),
  ];
}

function allocatedBytes(): number {
  // Warmed up until everything is compiled: compiled code allocates less.
  const args = ['--expose-gc', '--single-threaded', '--max-lazy', here('decide.mjs'), '20000', 'allocations'];
  return Number(execFileSync(process.execPath, args, { encoding: 'utf8' }));
}

function instructions(): number {
  // The first few hundred decisions also collect the garbage of the start.
  const [few, many] = [400, 600];
  return Math.round((instructionsOf(many) - instructionsOf(few)) / (many - few));
}

function instructionsOf(decisions: number): number {
  const args = ['--tool=callgrind', '--callgrind-out-file=/dev/null', process.execPath, ...REPEATABLE];
  const { stderr } = spawnSync('valgrind', [...args, here('decide.mjs'), String(decisions)], {
    encoding: 'utf8',
  });
  const found = /Collected : (\d+)/.exec(stderr);
  if (found === null) throw new Error(`valgrind reports no count: ${stderr.slice(-300)}`);
  return Number(found[1]);
}

/** System calls per request on a persistent connection, from the difference of two runs. */
async function systemCalls(): Promise<number> {
  const upstream = createServer((socket) => {
    socket.on('data', () => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'));
    socket.on('error', () => {});
  });
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  const { port } = upstream.address() as AddressInfo;
  const folder = mkdtempSync(join(tmpdir(), 'edgeproof-counts-'));
  try {
    const [few, many] = [200, 1_200];
    const fewer = await callsOf(port, few, join(folder, 'few'));
    const more = await callsOf(port, many, join(folder, 'many'));
    return Number(((more - fewer) / (many - few)).toFixed(2));
  } finally {
    upstream.close();
    rmSync(folder, { recursive: true });
  }
}

async function callsOf(upstreamPort: number, requests: number, log: string): Promise<number> {
  const { PATH } = process.env;
  const args = ['-f', '-c', '-o', log, process.execPath, here('serve.mjs'), String(upstreamPort)];
  const child = spawn('strace', args, { stdio: ['ignore', 'pipe', 'inherit'], env: { PATH } });
  try {
    const url = `http://localhost:${await firstLine(child)}/items/17`;
    const { Pool } = await import('undici');
    const pool = new Pool(new URL(url).origin, { connections: 1 });
    for (let sent = 0; sent < requests; sent++) {
      const { statusCode, body } = await pool.request({
        path: '/items/17',
        method: 'GET',
        headers: REQUEST.headers,
      });
      await body.text();
      if (statusCode !== 200) throw new Error(`the ingress answered ${statusCode}`);
    }
    await pool.close();
  } finally {
    // The signal is for the counted process; strace ends with it.
    const [ingress] = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').trim().split(' ');
    process.kill(Number(ingress), 'SIGTERM');
  }
  await new Promise((resolve) => child.once('exit', resolve));
  const total = /^\s*100\.00.*?\s(\d+)(?:\s+\d+)? total$/m.exec(readFileSync(log, 'utf8'));
  if (total === null) throw new Error('strace wrote no total');
  return Number(total[1]);
}

function firstLine(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    child.stdout!.once('data', (bytes: Buffer) => resolve(bytes.toString().trim()));
    child.once('exit', (code) => reject(new Error(`the ingress ended with ${code}`)));
  });
}

function isInstalled(program: string): boolean {
  return spawnSync(program, ['--version']).status === 0;
}

function counted(name: string, program: string, count: () => number): Count {
  return isInstalled(program)
    ? { name, value: count() }
    : { name, value: null, why: `${program} is not installed` };
}

async function countedLater(name: string, program: string, count: () => Promise<number>): Promise<Count> {
  if (!isInstalled(program)) return { name, value: null, why: `${program} is not installed` };
  return { name, value: await count() };
}

/** The comparison of counts with their bounds, and whether all are within. */
export function judged(
  found: readonly Count[],
  bounds: Readonly<Record<string, number>>,
): { readonly lines: readonly string[]; readonly within: boolean } {
  let within = true;
  const lines = found.map(({ name, value, why }) => {
    const bound = bounds[name];
    if (value === null) return `skipped  ${name}: ${why!}`;
    if (bound === undefined || value > bound) {
      within = false;
      return `ABOVE    ${name}: ${value}, and its bound is ${bound ?? 'not set'}`;
    }
    const loose = value < bound * LOOSE ? '; the bound is loose, --update sets it again' : '';
    return `ok       ${name}: ${value} of ${bound}${loose}`;
  });
  return { lines, within };
}

if (import.meta.url === pathToFileURL(process.argv[1]!).href) {
  const found = await counts();
  if (process.argv.includes('--update')) {
    const bounds = Object.fromEntries(
      found.flatMap(({ name, value }) => (value === null ? [] : [[name, Math.ceil(value * MARGIN)]])),
    );
    writeFileSync(BOUNDS, `${JSON.stringify(bounds, null, 2)}\n`);
  }
  const { lines, within } = judged(found, JSON.parse(readFileSync(BOUNDS, 'utf8')) as Record<string, number>);
  process.stdout.write(`${lines.join('\n')}\n`);
  process.exitCode = within ? 0 : 1;
}
