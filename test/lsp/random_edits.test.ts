import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Diagnostic } from 'vscode-languageserver-protocol/node';
import { expect, test } from 'vitest';
import { linesOf, positionAt } from '../../src/diagnostics/lines.ts';
import { checkerFor } from '../../src/project_files/load_config.ts';
import { edgeproof } from '../cli/command.ts';
import { PIECES } from '../editing/pieces.ts';
import { folderWith } from '../folder.ts';
import { IS_FULL, runs, seeded } from '../random.ts';
import { Editor } from './client.ts';
import { TEXTS } from './texts.ts';

const WRITTEN = [...PIECES, '😀', 'é', '\\', '${', 'req.', 'deny', '---\n', '0', 'true', '\0'];
const POSITIONAL = [
  'hover',
  'completion',
  'definition',
  'prepareRename',
  'documentSymbol',
  'foldingRange',
  'codeLens',
  'semanticTokens/full',
];
/** Short runs do fewer, because each settled text is checked twice. */
const EDITS = IS_FULL ? runs(10_000) : 60;

/** Every so many settled texts are also checked by the command line. */
const BY_COMMAND = 50;

interface Shown {
  readonly code: unknown;
  readonly severity: string;
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

const byPlace = (one: Shown, other: Shown): number =>
  one.line - other.line ||
  one.column - other.column ||
  (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1);

/** What the checker says of a text on disk, with places in UTF-16 units. */
async function checked(name: string, text: string): Promise<Shown[]> {
  const checker = await checkerFor(text, { name, strict: false });
  return checker({ name, text })
    .map(({ code, severity, message, hint, notes = [], span, source }) => {
      expect(source?.text ?? text).toBe(text);
      const lines = linesOf(text);
      const start = Math.min(span?.start ?? 0, text.length);
      const line = positionAt(lines, start).line - 1;
      const whole = [message, ...(hint === undefined ? [] : [hint]), ...notes].join('\n');
      return { code, severity, line, column: start - lines.starts[line]!, message: whole };
    })
    .toSorted(byPlace);
}

function shown(diagnostics: readonly Diagnostic[]): Shown[] {
  return diagnostics
    .map(({ code, severity, range: { start }, message }) => ({
      code,
      severity: severity === 1 ? 'error' : 'warning',
      line: start.line,
      column: start.character,
      message: message as string,
    }))
    .toSorted(byPlace);
}

test('under random edits no answer is lost, and settled texts have the findings of check', async () => {
  const folder = folderWith(TEXTS);
  const before = process.cwd();
  process.chdir(folder);
  const editor = await new Editor(folder).start({ exact: false, delay: 0 });
  const chance = seeded(24);
  const below = (count: number): number => Math.floor(chance() * count);
  const names = Object.keys(TEXTS);
  const texts = new Map(Object.entries(TEXTS));
  let asked = 0;
  let settled = 0;
  try {
    for (let edits = EDITS; edits > 0;) {
      const name = names[below(names.length)]!;
      // Texts stay near those that parse: after some edits they begin again.
      let text = chance() < 0.2 ? TEXTS[name]! : texts.get(name)!;
      await editor.show(name, text);
      const waiting: Promise<unknown>[] = [];
      for (let burst = 1 + below(8); burst > 0 && edits > 0; burst--, edits--) {
        const start = placed(text, below(text.length + 1));
        const end = chance() < 0.4 ? placed(text, Math.min(text.length, start + below(12))) : start;
        const piece = chance() < 0.8 ? WRITTEN[below(WRITTEN.length)]! : '';
        await editor.edit(name, { start: wire(text, start), end: wire(text, end) }, piece);
        text = text.slice(0, start) + piece + text.slice(end);
        const method = POSITIONAL[below(POSITIONAL.length)]!;
        const position = wire(text, placed(text, below(text.length + 1)));
        waiting.push(editor.ask(`textDocument/${method}`, name, { position }));
      }
      texts.set(name, text);
      await Promise.all(waiting);
      asked += waiting.length;
      const found = shown(await editor.findings(name));
      // Other files name this one: what is on disk is what the editor has.
      writeFileSync(join(folder, name), text);
      expect({ text, found }).toEqual({ text, found: await checked(name, text) });
      if (++settled % BY_COMMAND === 1) await expectSameByCommand(folder, name, found);
      await editor.hide(name);
    }
    expect(await editor.stop()).toBe(0);
  } finally {
    process.chdir(before);
  }
  expect(asked).toBeGreaterThanOrEqual(EDITS);
}, 1_200_000);

/** The protocol has no position within a line break. */
function placed(text: string, offset: number): number {
  return text[offset] === '\n' && text[offset - 1] === '\r' ? offset + 1 : offset;
}

/** A line break is `\n`, `\r\n` or `\r` for the protocol. */
function wire(text: string, offset: number) {
  let line = 0;
  let start = 0;
  for (let at = 0; at < offset; at++) {
    const isBreak = text[at] === '\n' || (text[at] === '\r' && text[at + 1] !== '\n');
    if (isBreak) [line, start] = [line + 1, at + 1];
  }
  return { line, character: offset - start };
}

async function expectSameByCommand(folder: string, name: string, found: readonly Shown[]): Promise<void> {
  const { stdout } = await edgeproof(['check', name, '--reporter', 'json'], folder);
  const diagnostics = JSON.parse(stdout) as Pick<Shown, 'code' | 'severity'>[];
  const brief = (all: readonly Pick<Shown, 'code' | 'severity'>[]): string[] =>
    all.map(({ code, severity }) => `${severity} ${String(code)}`).sort();
  expect(brief(diagnostics)).toEqual(brief(found));
}
