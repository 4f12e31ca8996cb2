import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { folderWith } from '../folder.ts';
import { skipped } from '../peers.ts';
import { type Running, startProgram } from '../running.ts';
import { MAIN } from './main_file.ts';

/** `script` of util-linux runs a program in a pseudo-terminal; that of other systems has other options. */
const hasTerminals =
  process.platform === 'linux' && spawnSync('/usr/bin/script', ['-qec', 'true', '/dev/null']).status === 0;
if (!hasTerminals) skipped('questions in a terminal', 'script of util-linux makes no pseudo-terminal here');

const CTRL_C = '\x03';
const CTRL_D = '\x04';

function inTerminal(verb: string, folder: string) {
  const command = `${process.execPath} ${MAIN} ${verb}`;
  const running = startProgram('/usr/bin/script', ['-qefc', command, join(folder, 'typescript')], folder);
  const ended = new Promise((resolve) => running.process.once('close', resolve));
  return { running, ended, type: (text: string) => void running.process.stdin!.write(text) };
}

/** Waits for text that comes after what has come so far. */
function further(running: Running, text: RegExp): Promise<RegExpExecArray> {
  return running.waitFor(new RegExp(`(?<=^[^]{${running.output().length},})${text.source}`));
}

describe.runIf(hasTerminals)('init asks', () => {
  it.each([
    ['an answer that is neither', ['maybe\r', 'n\r'], false],
    ['no', ['No\r'], false],
    ['Ctrl-C', [CTRL_C], false],
    ['Ctrl-D', [CTRL_D], false],
    ['yes, after all', ['sure\r', 'yes\r'], true],
    ['Enter', ['\r'], true],
  ])('%s', async (_, answers, isWritten) => {
    const folder = folderWith();
    const { running, ended, type } = inTerminal('init', folder);
    await running.waitFor(/Continue\? \[Y\/n\] /);
    const [first, ...rest] = answers;
    type(first!);
    for (const answer of rest) {
      await further(running, /Continue\? \[Y\/n\] /);
      type(answer);
    }
    expect(await ended).toBe(0);
    expect(existsSync(join(folder, 'edge.yaml'))).toBe(isWritten);
    expect(/^nothing was written\r$/m.test(running.output())).toBe(!isWritten);
  });
});

it.runIf(hasTerminals)('Ctrl-C in the repl gives a line up, and ends it at an empty one', async () => {
  const { running, ended, type } = inTerminal('repl', folderWith());
  await running.waitFor(/> /);
  type('1 + ');
  await running.waitFor(/1 \+ /);
  type(CTRL_C);
  type('20 + 22\r');
  await running.waitFor(/^42\r$/m);
  type(CTRL_C);
  expect(await ended).toBe(0);
  expect(running.output()).not.toContain('error');
  expect(running.output()).toMatch(/\r\n$/);
});
