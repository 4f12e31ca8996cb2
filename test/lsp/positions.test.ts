import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { CompletionList, Hover, Location } from 'vscode-languageserver-protocol/node';
import { beforeAll, describe, expect, test } from 'vitest';
import { MAIN } from '../cli/main_file.ts';
import { folderWith } from '../folder.ts';
import { Editor } from './client.ts';
import { TEXTS } from './texts.ts';

const SETTINGS = { exact: false, delay: 0 };
const METHODS = ['hover', 'completion', 'definition', 'references'] as const;

interface Question {
  readonly file: string;
  readonly method: (typeof METHODS)[number];
  readonly position: { readonly line: number; readonly character: number };
  /** The word that the position is in, with a mark there. */
  readonly shown: string;
}

/** Every word of every file is hovered; the others are asked at some of them. */
function questions(): readonly Question[] {
  return Object.entries(TEXTS).flatMap(([file, text]) => {
    const lines = text.replace('\ufeff', '').split(/\r?\n/);
    return lines.flatMap((line, number) =>
      Array.from(line.matchAll(/[\w.-]*\w/g)).flatMap((match, index): readonly Question[] => {
        const [word] = match;
        // An editor removes the byte order mark, and a position of the first line is another one then.
        if (number === 0 && text.startsWith('\ufeff')) return [];
        const at = Math.min(2, word.length - 1);
        const character = match.index + at;
        const own = METHODS.filter((_method, turn) => turn === 0 || (number + index) % 3 === turn % 3);
        return own.map((method) => ({
          file,
          method,
          position: { line: number, character },
          shown: `${number + 1}:${character + 1} ${word.slice(0, at)}‸${word.slice(at)}`,
        }));
      }),
    );
  });
}

const asked = questions();
const folder = folderWith(TEXTS);

/** The answers as a text that can be read, a line each. */
function recorded(answers: readonly unknown[]): string {
  return `${asked.map(({ file, method, shown }, index) => `${file} ${shown} ${method}: ${brief(method, answers[index])}`).join('\n')}\n`;
}

function brief(method: Question['method'], answer: unknown): string {
  if (answer === null || answer === undefined) return '-';
  if (method === 'hover') {
    const { value } = (answer as Hover).contents as { readonly value: string };
    return value
      .split('\n')
      .filter((line) => line !== '' && line !== '```')
      .join(' | ')
      .slice(0, 160);
  }
  if (method === 'completion') {
    const labels = (answer as CompletionList).items.map(({ label }) => label);
    return labels.length === 0 ? '-' : `${labels.length}: ${labels.slice(0, 8).join(' ')}`;
  }
  const places = (answer as readonly Location[]).map(({ uri, range: { start } }) => {
    const file = Object.keys(TEXTS).find((name) => pathToFileURL(join(folder, name)).href === uri) ?? uri;
    return `${file}:${start.line + 1}:${start.character + 1}`;
  });
  return places.length === 0 ? '-' : places.sort().join(' ');
}

describe(`${asked.length} positions`, () => {
  test('have the recorded answers for a client of the protocol', async () => {
    expect(asked.length).toBeGreaterThanOrEqual(300);
    const editor = await new Editor(folder).start(SETTINGS);
    for (const [name, text] of Object.entries(TEXTS)) await editor.show(name, text);
    const answers = await Promise.all(
      asked.map(({ file, method, position }) =>
        editor.ask(`textDocument/${method}`, file, {
          position,
          context: { includeDeclaration: true, triggerKind: 1 },
        }),
      ),
    );
    expect(await editor.stop()).toBe(0);
    await expect(recorded(answers)).toMatchFileSnapshot('positions.txt');
  });
});

describe('Neovim', () => {
  let missing = '';
  beforeAll(() => {
    try {
      execFileSync('nvim', ['--version']);
    } catch {
      missing = 'Neovim is not installed (apt-get install neovim)';
    }
  });

  test('has the same answers', (context) => {
    if (missing !== '') {
      process.stdout.write(`skipped: ${missing}\n`);
      context.skip(missing);
    }
    const command = [process.execPath, MAIN, 'lsp', '--stdio'];
    const [from, to] = [join(folder, 'questions.json'), join(folder, 'answers.json')];
    // What an editor of another file has open is not seen by this one: both read what they name from the disk.
    writeFileSync(from, JSON.stringify({ command, folder, settings: SETTINGS, questions: asked }));
    execFileSync(
      'nvim',
      [
        '--headless',
        '-u',
        'NONE',
        '-i',
        'NONE',
        '-n',
        '-c',
        `luafile ${join(import.meta.dirname, 'neovim.lua')}`,
        '-c',
        'qall!',
      ],
      {
        env: { ...process.env, QUESTIONS: from, ANSWERS: to, NODE_OPTIONS: '' },
        stdio: ['ignore', 'pipe', 'pipe'],
        timeout: 120_000,
      },
    );
    const answers = JSON.parse(readFileSync(to, 'utf8')) as { readonly result: unknown }[];
    expect(recorded(answers.map(({ result }) => result))).toBe(
      readFileSync(join(import.meta.dirname, 'positions.txt'), 'utf8'),
    );
  }, 180_000);
});
