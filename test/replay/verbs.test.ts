import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { type Server, createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { edgeproof as runVerb } from '../cli/command.ts';
import { MAIN } from '../cli/main_file.ts';

let folder: string;
let upstream: Server;
let recording: string;
const SECRET = 'do-not-tell-anyone';

async function edgeproof(...args: readonly string[]) {
  const { code, stdout: out, stderr: err } = await runVerb(args, folder);
  return { code, out, err };
}

const edge = (port: number, path: string, lane: string) => `
backends:
  app: { static: { address: '127.0.0.1:${port}' } }
edges:
  https:
    shop:
      hostports: ['shop.test:443']
      routes:
        - match_type: path_prefix
          match: /
          backend: { backend_id: app }
          traffic_policy:
            value: |
              {"on_http_request":[
                {"expressions":["req.url.path.startsWith('${path}')"],"actions":[{"type":"deny","config":{"status_code":403}}]},
                {"expressions":["getReqHeader('x-lane').size() > 0 && getReqHeader('x-lane')[0] == '${lane}'"],"actions":[{"type":"deny","config":{"status_code":410}}]},
                {"actions":[{"type":"log","config":{"metadata":{"token":"${SECRET}"}}}]}
              ]}
`;

function ask(port: number, path: string, headers: Record<string, string>, body?: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(
      { port, host: '127.0.0.1', path, method: body === undefined ? 'GET' : 'POST', headers },
      (response) => {
        response.resume().on('end', () => resolve(response.statusCode!));
      },
    );
    sent.on('error', reject).end(body);
  });
}

/** Runs `dev --record`, sends requests, and stops it as a user would. */
async function record(file: string): Promise<void> {
  const dev = spawn(
    process.execPath,
    [
      MAIN,
      'dev',
      'current.yaml',
      '--record',
      file,
      '--events',
      'events.ndjson',
      '-p',
      '0',
      '--no-watch',
      '--redact',
      'X-Inner',
      '--record-bodies',
      '40',
    ],
    { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const port = await new Promise<number>((resolve) => {
    let said = '';
    dev.stdout.on('data', (text: Buffer) => {
      said += text.toString();
      const found = /http:\/\/127\.0\.0\.1:(\d+)/.exec(said);
      if (found !== null) resolve(Number(found[1]));
    });
  });
  const host = { host: 'shop.test' };
  await ask(port, `/a?token=${SECRET}&page=1`, {
    ...host,
    authorization: `Bearer ${SECRET}`,
    cookie: `sid=${SECRET}; b=${SECRET}`,
  });
  await ask(
    port,
    '/form',
    { ...host, 'content-type': 'application/x-www-form-urlencoded' },
    `password=${SECRET}&a=b`,
  );
  await ask(
    port,
    '/json',
    { ...host, 'content-type': 'application/json', 'x-inner': SECRET },
    `{"secret":"${SECRET}","a":1}`,
  );
  await ask(port, '/long', host, 'x'.repeat(500));
  await ask(port, '/admin', { ...host, 'x-lane': 'Blue' });
  await ask(port, '/lane', { ...host, 'x-lane': 'Blue' });
  const stopped = new Promise((resolve) => dev.once('exit', resolve));
  dev.kill('SIGTERM');
  await stopped;
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'edgeproof-record-'));
  upstream = createServer((message, response) => {
    message.resume().on('end', () => {
      response.writeHead(message.url === '/long' ? 201 : 200, {
        'content-type': 'text/plain',
        'set-cookie': `sid=${SECRET}; Path=/`,
      });
      response.end(`hello ${message.url?.split('?')[0]}`);
    });
  });
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  const { port } = upstream.address() as AddressInfo;
  await writeFile(join(folder, 'current.yaml'), edge(port, '/admin', 'Blue'));
  await writeFile(join(folder, 'candidate.yaml'), edge(port, '/lane', 'Green'));
  await record('recording.ndjson');
  recording = await readFile(join(folder, 'recording.ndjson'), 'utf8');
});
afterAll(async () => {
  upstream.close();
  await rm(folder, { recursive: true, force: true });
});

interface Line {
  readonly exchange: {
    readonly request: { readonly target: string; readonly headers: string[]; readonly body: object };
    readonly response: { readonly status: number };
    readonly forwards: { readonly response: { readonly body: object } }[];
    readonly trace: { readonly code: string }[];
    readonly redactions: string[];
  };
}

describe('edgeproof dev --record', () => {
  const lines = () =>
    recording
      .trim()
      .split('\n')
      .slice(1)
      .map((line) => JSON.parse(line) as Line);

  it('writes a head with a version, and each exchange', () => {
    expect(JSON.parse(recording.split('\n')[0]!)).toMatchObject({ edgeproof_recording: 1, body_limit: 40 });
    expect(lines()).toHaveLength(6);
  });

  it('contains no secrets, and lists their places', () => {
    expect(recording).not.toContain(SECRET);
    const [first] = lines();
    expect(first!.exchange.request.target).toBe('/a?token=[redacted]&page=1');
    expect(first!.exchange.request.headers).toContain('Bearer [redacted]');
    expect(first!.exchange.request.headers).toContain('sid=[redacted]; b=[redacted]');
    expect(first!.exchange.redactions).toContain('request.headers.authorization');
    expect(first!.exchange.redactions).toContain('response.headers.set-cookie');
    expect(lines()[2]!.exchange.redactions).toContain('request.headers.x-inner');
  });

  it('keeps bodies up to the limit, with their sizes', () => {
    const [first, form, json, long, denied] = lines().map(({ exchange }) => exchange);
    expect(first!.forwards[0]!.response.body).toEqual({ bytes: 8, text: 'hello /a' });
    expect(form!.request.body).toMatchObject({ bytes: 31, text: 'password=[redacted]&a=b', redacted: true });
    expect(json!.request.body).toMatchObject({ text: '{"secret":"[redacted]","a":1}', redacted: true });
    expect(long!.request.body).toEqual({ bytes: 500, text: 'x'.repeat(40), truncated: true });
    expect(denied!.trace.map(({ code }) => code)).toContain('traffic_policy.denied');
  });
});

describe('edgeproof replay', () => {
  it('reproduces a recording on the configuration that made it', async () => {
    const { code, out } = await edgeproof(
      'replay',
      'recording.ndjson',
      '-e',
      'current.yaml',
      '--against',
      'current.yaml',
    );
    expect(out).toContain('fidelity 100.00 %');
    expect(out).toContain('6 records: 0 changed, 0 unknown, 6 same');
    expect(code).toBe(0);
  });

  it('reports what another one changes, with exit code 5', async () => {
    const { code, out } = await edgeproof(
      'replay',
      'recording.ndjson',
      '-e',
      'candidate.yaml',
      '--against',
      'current.yaml',
    );
    expect(code).toBe(5);
    expect(out).toContain('403 by traffic_policy (traffic_policy.denied) → forwarded to app');
    expect(out).toContain(
      '410 by traffic_policy (traffic_policy.denied) → 403 by traffic_policy (traffic_policy.denied)',
    );
    expect(out).toMatch(/line 6: GET http:\/\/shop\.test\/admin from 127\.0\.0\.1/);
  });

  it('does not guess missing values, with exit code 7 if there are too many', async () => {
    const args = ['replay', 'events.ndjson', '-e', 'current.yaml'];
    const same = await edgeproof(...args, '--against', 'current.yaml', '--max-unknown', '0');
    expect([same.code, same.out]).toEqual([0, expect.stringContaining('6 records: 0 changed, 0 unknown')]);
    const { code, out } = await edgeproof(...args);
    expect(code).toBe(0);
    expect(out).toMatch(/UNKNOWN {2}1 \(16\.67 %\)\n.*case of x-lane/);
    expect((await edgeproof(...args, '--max-unknown', '10')).code).toBe(7);
    expect((await edgeproof(...args, '--max-unknown', '20')).code).toBe(0);
    const judged = [...args, '--against', 'current.yaml', '--min-fidelity'];
    expect((await edgeproof(...judged, '99')).code).toBe(8);
    expect((await edgeproof(...judged, '80')).code).toBe(0);
    const alone = await edgeproof(...args, '--min-fidelity', '0');
    expect([alone.code, alone.err]).toEqual([2, expect.stringContaining('--against')]);
  });

  it('has reports for programs', async () => {
    const json = await edgeproof('replay', 'recording.ndjson', '-e', 'candidate.yaml', '-r', 'json');
    expect(JSON.parse(json.out)).toMatchObject({ records: 6, fidelity: null });
    const each = await edgeproof('replay', 'recording.ndjson', '-e', 'candidate.yaml', '-r', 'ndjson');
    const lines = each.out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { finding?: string; summary?: object });
    expect(lines.map(({ finding }) => finding).slice(0, -1)).toEqual([
      'same',
      'same',
      'same',
      'same',
      'changed',
      'changed',
    ]);
    expect(lines.at(-1)!.summary).toMatchObject({ same: 4, changed: 2 });
  });

  it('reads curl lines and HAR, and reports unreadable lines', async () => {
    await writeFile(
      join(folder, 'lines.sh'),
      "curl https://shop.test/a\n# a comment\ncurl -H 'X-Lane: Blue' \\\n  https://shop.test/x\nnonsense\n",
    );
    const curl = await edgeproof(
      'replay',
      'lines.sh',
      '-e',
      'candidate.yaml',
      '--against',
      'current.yaml',
      '-r',
      'json',
    );
    expect(JSON.parse(curl.out)).toMatchObject({
      records: 2,
      changed: 1,
      same: 1,
      unreadable: 1,
      problems: [{ line: 5 }],
    });
    const made = await edgeproof(
      'record',
      'current.yaml',
      '--from',
      'recording.ndjson',
      '--to',
      'har',
      '-o',
      'log.har',
    );
    expect(made.code).toBe(0);
    const har = await edgeproof(
      'replay',
      'log.har',
      '-e',
      'candidate.yaml',
      '--against',
      'current.yaml',
      '-r',
      'json',
    );
    expect(JSON.parse(har.out)).toMatchObject({ records: 6, changed: 2, same: 4 });
  });

  it('record names its file in one way', async () => {
    const twice = await edgeproof('record', 'current.yaml', '--record', 'other.ndjson');
    expect([twice.code, twice.err]).toEqual([2, expect.stringContaining("unknown option '--record'")]);
    const without = await edgeproof('record', 'current.yaml');
    expect([without.code, without.err]).toEqual([2, expect.stringContaining('--out')]);
  });

  it('fails on a file that is not a log, and on an empty one', async () => {
    expect((await edgeproof('replay', 'not_there.ndjson', '-e', 'current.yaml')).code).toBe(2);
    await writeFile(join(folder, 'empty.ndjson'), '');
    expect((await edgeproof('replay', 'empty.ndjson', '-e', 'current.yaml')).code).toBe(77);
  });
});

describe('edgeproof record --to scenario', () => {
  it('makes cases that pass with the recorded configuration', async () => {
    const args = [
      'record',
      'current.yaml',
      '--from',
      'recording.ndjson',
      '--to',
      'scenario',
      '-o',
      'made.scenario.yaml',
    ];
    expect(await edgeproof(...args)).toMatchObject({ code: 0, err: '' });
    const text = await readFile(join(folder, 'made.scenario.yaml'), 'utf8');
    expect(text).toContain('# authorization was redacted in the log');
    const tested = await edgeproof('test', 'made.scenario.yaml');
    expect(tested.out).toContain('6 passed');
    expect(tested.code).toBe(0);
    await writeFile(
      join(folder, 'changed.scenario.yaml'),
      text.replace('./current.yaml', './candidate.yaml'),
    );
    expect((await edgeproof('test', 'changed.scenario.yaml')).code).toBe(1);
  });
});

describe('determinism', () => {
  it('the event log of a simulation is the same, byte for byte', async () => {
    await writeFile(
      join(folder, 'run.scenario.yaml'),
      `edge: ./current.yaml
upstreams: { app: { latency: { from: 5ms, to: 40ms } } }
simulation:
  duration: 60s
  arrivals: [{ request: { path: /a }, rate: 20 }, { request: { path: /admin }, rate: 5 }]
`,
    );
    const runs: string[] = [];
    for (const file of ['one', 'two']) {
      expect((await edgeproof('sim', 'run.scenario.yaml', '--events', `${file}.ndjson`)).code).toBe(0);
      runs.push(await readFile(join(folder, `${file}.ndjson`), 'utf8'));
    }
    expect(runs[0]!.length).toBeGreaterThan(100_000);
    expect(runs[0]).toBe(runs[1]);
    await edgeproof('sim', 'run.scenario.yaml', '--seed', '2', '--events', 'three.ndjson');
    expect(await readFile(join(folder, 'three.ndjson'), 'utf8')).not.toBe(runs[0]);
  });
});
