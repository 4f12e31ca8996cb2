import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { folderWith } from '../folder.ts';
import { edgeproof } from './command.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const folder = folderWith();
const README = await readFile(join(ROOT, 'README.md'), 'utf8');

/** The commands that the page shows, in its order. */
const shown = [...README.matchAll(/^\$ (.*)$/gm)].map(([, line]) => line!.replace(/\s+#.*$/, ''));

/** Whether the ports of the sample's upstreams are free. */
async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  const isTaken = once(server, 'error').then(() => false);
  server.listen(port, '127.0.0.1');
  const free = await Promise.race([once(server, 'listening').then(() => true), isTaken]);
  server.close();
  return free;
}

/** Waits for the first output that matches. */
function heard(child: ChildProcess, text: { all: string }, pattern: RegExp): Promise<RegExpExecArray> {
  return new Promise((resolve, reject) => {
    const look = (): void => {
      const found = pattern.exec(text.all);
      if (found !== null) resolve(found);
    };
    child.stdout!.on('data', look);
    child.once('close', () => reject(new Error(`ended before ${String(pattern)}:\n${text.all}`)));
    look();
  });
}

describe('the first five minutes', () => {
  it('follow the README', () => {
    expect(shown).toEqual(
      expect.arrayContaining(['npm start', 'npx edgeproof init --yes && npx edgeproof test']),
    );
  });

  const canStart = Promise.all([isFree(3900), isFree(3901)]).then((free) => free.every(Boolean));
  it('npm start: a sample edge behaves as the page shows', async ({ skip }) => {
    if (!(await canStart)) return skip('the ports 3900 and 3901 of the sample are taken');
    const { scripts } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as {
      scripts: { start: string };
    };
    const [, file] = scripts.start.split(' ');
    const args = [file!, '--port', '0', '--events', join(folder, 'events.ndjson')];
    const env = { ...process.env, NO_COLOR: '1' };
    const child = spawn(process.execPath, args, { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'inherit'] });
    const text = { all: '' };
    child.stdout.on('data', (chunk: Buffer) => (text.all += chunk.toString()));
    try {
      const [, url] = await heard(child, text, /ready in \d+ ms {2}(http:\S+)/);
      const ask = async (path: string, agent = 'curl/8') =>
        (await fetch(url! + path, { headers: { host: 'shop.localhost', 'user-agent': agent } })).status;
      await heard(child, text, /shop\.localhost:443 +http:\/\/shop\.localhost:\d+\//);
      expect(await ask('/hello?x=1')).toBe(200);
      expect(await ask('/admin', 'EvilBot')).toBe(403);
      await heard(child, text, /GET +200 .*→ (?:app|next)/);
      await heard(
        child,
        text,
        /GET +403 .*user_agent_filter\.denied deny\[0\] {2}fixtures\/sample\/edge\.yaml:\d+/,
      );
    } finally {
      child.kill('SIGTERM');
      await once(child, 'close');
    }
    const events = (await readFile(join(folder, 'events.ndjson'), 'utf8')).trimEnd().split('\n');
    expect(events).toHaveLength(2);
  });

  it('init and test: the written files pass, and a change is detected', async () => {
    expect((await edgeproof(['init', '--yes'], folder)).code).toBe(0);
    const tested = await edgeproof(['test'], folder);
    expect(tested).toMatchObject({ code: 0, stdout: expect.stringMatching(/\d+ passed/) as string });
    const edge = await readFile(join(folder, 'edge.yaml'), 'utf8');
    await writeFile(join(folder, 'edge.yaml'), edge.replace('ip_policy_ids: [office]', 'ip_policy_ids: []'));
    expect((await edgeproof(['test'], folder)).code).not.toBe(0);
  });
});
