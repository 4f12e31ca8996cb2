import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { folderWith } from '../folder.ts';
import { skipped } from '../peers.ts';
import { startProgram } from '../running.ts';
import { MAIN } from './main_file.ts';

const EDGE = `backends: { page: { http_response: { status_code: 200, body: hello } } }
edges:
  https:
    shop:
      hostports: ['shop.test:443']
      routes: [{ match_type: path_prefix, match: /, backend: { backend_id: page } }]
`;

/** `script` of util-linux runs a program in a pseudo-terminal; that of other systems has other options. */
const hasTerminals =
  process.platform === 'linux' && spawnSync('/usr/bin/script', ['-qec', 'true', '/dev/null']).status === 0;
if (!hasTerminals) skipped('keys in a terminal', 'script of util-linux makes no pseudo-terminal here');

it.runIf(hasTerminals)('keys reload, explain the last request and quit, in a terminal', async () => {
  const folder = folderWith({ 'edge.yaml': EDGE });
  const command = `${process.execPath} ${MAIN} dev --port 0 --no-watch`;
  const dev = startProgram('/usr/bin/script', ['-qefc', command, join(folder, 'typescript')], folder);
  const press = (key: string): void => void dev.process.stdin!.write(key);
  const [, url] = await dev.waitFor(/ready in \d+ ms {2}(http:\S+)/);
  await dev.waitFor(
    /keys: o open in the browser {2}r reload {2}e explain the last request {2}c clear {2}q quit/,
  );
  press('e');
  await dev.waitFor(/no request has come yet/);
  await fetch(url!);
  press('e');
  await dev.waitFor(/├ ● upstream .*\r?\n└ 200 → backend page/);
  press('r');
  await dev.waitFor(/edge\.yaml read again: revision 2 is live/);
  writeFileSync(join(folder, 'edge.yaml'), EDGE.replace('hello', 'bye'));
  press('r');
  await dev.waitFor(/edge\.yaml read again: revision 3 is live/);
  expect(await (await fetch(url!)).text()).toBe('bye');
  press('q');
  const ended = new Promise((resolve) => dev.process.once('close', resolve));
  await dev.waitFor(/draining/);
  expect(await ended).toBe(0);
});
