import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import type { Diagnostic } from '../../src/diagnostics/diagnostic.ts';
import { ACTION_FACTS, MODULE_FACTS } from '../../src/filters/table.ts';
import { checkerFor } from '../../src/project_files/load_config.ts';

const FIXTURES = join(import.meta.dirname, '../../fixtures');

/** All broken files of the fixtures, with their names. */
function brokenTexts(): (readonly [name: string, text: string])[] {
  const folders = ['broken', 'policies/broken'].map((each) => join(FIXTURES, each));
  const files = folders.flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => /\.(?:ya?ml|json)$/.test(name))
      .map((name) => [join(folder, name), readFileSync(join(folder, name), 'utf8')] as const),
  );
  const tables = readdirSync(join(FIXTURES, 'mistakes')).flatMap((table) =>
    (
      parse(readFileSync(join(FIXTURES, 'mistakes', table), 'utf8')) as readonly {
        readonly mistake: string;
        readonly files?: Readonly<Record<string, unknown>>;
      }[]
    ).flatMap(({ mistake, files: own = {} }) =>
      Object.values(own).flatMap((text) => (typeof text === 'string' ? [[mistake, text] as const] : [])),
    ),
  );
  return [...files, ...tables];
}

const GUARDS = [
  ...MODULE_FACTS.keys(),
  ...[...ACTION_FACTS.values()].flatMap(({ type, guards }) => (guards ? [type] : [])),
];
const GATE = new RegExp(`(?<![\\w-])(?:${GUARDS.join('|')}|mutual_tls|expressions)(?![\\w-])`, 'g');
const EVERYBODY = /(?<![\d.])0\.0\.0\.0\/0|::\/0/g;

const count = (text: string, words: RegExp): number => text.match(words)?.length ?? 0;

test('no fix takes a gate or a condition away, allows more addresses than are written, or denies fewer', async () => {
  let fixes = 0;
  for (const [name, text] of brokenTexts()) {
    let found: readonly Diagnostic[];
    try {
      found = (await checkerFor(text))({ name, text });
    } catch {
      // Not a text of ours.
      continue;
    }
    for (const { fix, code } of found) {
      if (fix === undefined) continue;
      fixes++;
      const after = text.slice(0, fix.span.start) + fix.text + text.slice(fix.span.end);
      const lost = { name, code, message: fix.message };
      expect({ ...lost, gates: count(after, GATE) >= count(text, GATE) }).toEqual({ ...lost, gates: true });
      expect({ ...lost, open: count(after, EVERYBODY) }).toEqual({ ...lost, open: count(text, EVERYBODY) });
      // A word such as `alow` may become `allow`.
      const allowed = count(after, /\ballow\b/g) - count(text, /\ballow\b/g);
      expect({
        ...lost,
        allowed: allowed <= (/unknown_value|22\d\d|unknown_key/.test(code) ? 1 : 0),
      }).toEqual({
        ...lost,
        allowed: true,
      });
    }
  }
  expect(fixes).toBeGreaterThan(120);
});
