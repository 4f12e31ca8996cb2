import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { start } from '../cli/command.ts';
import { folderWith } from '../folder.ts';
import { follow, isAsShown, stepsOf } from './walk.ts';

// The tutorial and the how-to pages, followed line by line as a reader does.

const DOCS = fileURLToPath(new URL('../../docs/', import.meta.url));
const pages = ['tutorial.md', ...readdirSync(join(DOCS, 'how_to')).map((name) => `how_to/${name}`)];
const textOf = (page: string): string => readFileSync(join(DOCS, page), 'utf8');

describe.each(pages)('%s', (page) => {
  it('does what it shows', async () => {
    const folder = folderWith();
    const steps = stepsOf(textOf(page));
    expect(steps.filter(({ kind }) => kind === 'command')).not.toEqual([]);
    for (const step of steps) {
      const output = await follow(step, folder);
      if (output === null || step.kind !== 'command') continue;
      expect([step.command, output.code]).toEqual([step.command, step.code]);
      if (isAsShown(output.printed, output.shown)) continue;
      expect(output.printed).toBe(output.shown);
    }
  });
});

describe('following a page', () => {
  it('finds an output that differs', () => {
    expect(isAsShown('a\nb\nc', 'a\n  …\nc')).toBe(true);
    expect(isAsShown('a\nb\nc', 'a\n  …\nd')).toBe(false);
    expect(isAsShown('a\nb', 'a')).toBe(false);
  });

  it('reads the exit code after a command', () => {
    const [first, second] = stepsOf(
      '```console\n$ npx edgeproof test\nx\n$ npx edgeproof check a  # exit code 3\n```\n',
    );
    expect(first).toMatchObject({ command: 'test', code: 0, output: 'x' });
    expect(second).toMatchObject({ command: 'check a', code: 3 });
  });

  it('refuses a block that belongs to no file, and other commands', () => {
    expect(() => stepsOf('# A\n\nLook:\n\n```yaml\na: 1\n```\n')).toThrow('line 5');
    expect(() => stepsOf('```console\n$ rm -r x\n```\n')).toThrow('line 1');
  });
});

/** A port that is free now. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** The status and the body of a response to a request for a host. */
function ask(url: string, path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = { host: 'shop.localhost', accept: 'text/html' };
    const sent = request(new URL(path, url), { headers }, (response) => {
      let body = '';
      response.on('data', (chunk: Buffer) => (body += chunk.toString()));
      response.on('end', () => resolve(`${response.statusCode} ${body}`));
    });
    sent.on('error', reject).end();
  });
}

it('run_production_file.md shows the lines of dev', async () => {
  const page = textOf('how_to/run_production_file.md');
  const folder = folderWith();
  for (const step of stepsOf(page)) if (step.kind === 'write') await follow(step, folder);
  const [, shown] = /^npx edgeproof (dev .*)$/m.exec(page)!;
  const home = { EDGEPROOF_HOME: join(folder, 'home') };
  const dev = start([...shown!.split(' '), '--port', '0', '--tls-port', '0'], folder, home);
  await dev.waitFor(/is reloaded on save/);
  const lines = /```text\n([^]*?)```/.exec(page)![1]!;
  const without = (text: string) =>
    text
      .replaceAll(/:\d{4,5}\b/g, ':PORT')
      .replace(/\d+ ms/, 'TIME')
      .replace(/(?<=token=)\S+/, '…');
  expect(without(dev.output())).toContain(without(lines));
  await dev.stop('SIGTERM');
});

describe('the tutorial, live', () => {
  const folder = folderWith();
  const tutorial = textOf('tutorial.md');
  const upstreams: ChildProcess[] = [];

  beforeAll(async () => {
    for (const step of stepsOf(tutorial)) {
      if (step.kind !== 'command' && step.kind !== 'edit') await follow(step, folder);
    }
    // The ports of the page may be taken.
    let edge = readFileSync(join(folder, 'edge.yaml'), 'utf8');
    for (const [shown, version] of [
      ['3000', 'stable'],
      ['3001', 'next'],
    ] as const) {
      const port = String(await freePort());
      expect(tutorial).toContain(`node shop.mjs ${shown} ${version}\n`);
      edge = edge.replace(`127.0.0.1:${shown}`, `127.0.0.1:${port}`);
      upstreams.push(spawn(process.execPath, ['shop.mjs', port, version], { cwd: folder, stdio: 'inherit' }));
    }
    writeFileSync(join(folder, 'edge.yaml'), edge);
    return async () => {
      for (const upstream of upstreams) {
        upstream.kill();
        await once(upstream, 'close');
      }
    };
  });

  it('prints the lines of the page, and reloads', async () => {
    const [, shown] = /^npx edgeproof (dev .*)$/m.exec(tutorial)!;
    const dev = start([...shown!.split(' '), '--port', '0'], folder);
    try {
      const [, url] = await dev.waitFor(/ready in \d+ ms {2}(http:\S+)/);
      await expect
        .poll(() => ask(url!, '/').catch(String), { timeout: 20_000 })
        .toMatch(/^200 (?:stable|next) \/\n$/);
      expect(await ask(url!, '/account')).toMatch(/^302 /);
      expect(await ask(url!, '/admin')).toMatch(/^403 /);
      const lines = /```text\n([^]*?)```/.exec(tutorial)![1]!.trimEnd().split('\n');
      expect(lines).toHaveLength(3);
      for (const line of lines) {
        const shape = line
          .replace(/^[\d:]+ +/, '')
          .replace(/<?\d+ ms/, 'TIME')
          .replace(/→ \w+/, 'BACKEND')
          .replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)
          .replaceAll(/ +/g, ' +')
          .replace('TIME', String.raw`<?\d+ ms`)
          .replace('BACKEND', String.raw`→ (?:stable|next)`);
        await dev.waitFor(new RegExp(shape));
      }
      const edge = readFileSync(join(folder, 'edge.yaml'), 'utf8');
      const opened = edge.replace(
        'rules: [{ cidr: 203.0.113.0/24, action: allow }]',
        'rules: [{ cidr: 203.0.113.0/24, action: allow }, { cidr: 127.0.0.0/8, action: allow }]',
      );
      expect(opened).not.toBe(edge);
      writeFileSync(join(folder, 'edge.yaml'), opened);
      await dev.waitFor(/revision 2 is live/);
      expect(await ask(url!, '/admin')).toMatch(/^200 (?:stable|next) \/admin\n$/);
    } finally {
      await dev.stop('SIGTERM');
    }
  });
});
