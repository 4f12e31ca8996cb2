import { readFileSync, readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { renderDiagnostics } from '../../../src/diagnostics/render.ts';
import { checkWholeEdge as checkEdge } from '../../../src/edge/semantic_checks.ts';
import { assembleFrom } from '../../../src/project_files/assemble.ts';
import { EDGE_CODES } from '../../../src/edge/document/codes.ts';

/**
 * Each file of `fixtures/broken` is named after the code that it shows; the expected output is in a file beside it.
 * `npx vitest run test/edge/document/broken.test.ts -u` updates the expected output.
 */
const folder = new URL('../../../fixtures/broken/', import.meta.url);
const cases = readdirSync(folder).filter((file) => /\.(?:yaml|json)$/.test(file));

/** Cases that show many codes at once. */
const MIXED: ReadonlySet<string> = new Set(['everything', 'long_line']);
/** Tested in test/auth/saml/metadata.test.ts: these need a large file, or are reported only at certain times. */
const WITHOUT_FIXTURE: ReadonlySet<string> = new Set([
  'edge.too_large',
  'edge.saml_expired',
  'edge.saml_certificate',
  'edge.certificate_expired',
]);

function checkFile(file: string) {
  const url = new URL(file, folder);
  const assemble = assembleFrom(url.pathname);
  return checkEdge({ name: file, text: readFileSync(url, 'utf8') }, { assemble });
}

function codeOf(file: string): string {
  return `edge.${file.split('.')[0]!}`;
}

describe('edge files with errors', () => {
  test.each(cases)('%s is explained', async (file) => {
    const { config, diagnostics } = checkFile(file);
    const errors = diagnostics.filter((diagnostic) => diagnostic.severity === 'error');
    expect(config === null).toBe(errors.length > 0);
    const due = MIXED.has(file.split('.')[0]!) ? [] : [codeOf(file)];
    expect(diagnostics.map(({ code }) => code)).toEqual(expect.arrayContaining(due));
    const golden = new URL(file.replace(/\.\w+$/, '.txt'), folder).pathname;
    const shown = renderDiagnostics(diagnostics, { color: false }).replaceAll('fixtures/broken/', '');
    await expect(shown).toMatchFileSnapshot(golden);
  });

  test('every code has a fixture with its name', () => {
    const shown = new Set(cases.map(codeOf));
    const missing = Object.keys(EDGE_CODES).filter((code) => !shown.has(code) && !WITHOUT_FIXTURE.has(code));
    expect(missing).toEqual([]);
    expect(cases.length).toBeGreaterThanOrEqual(40);
  });

  test('no golden file without an edge file', () => {
    const golden = readdirSync(folder).filter((file) => file.endsWith('.txt'));
    expect(golden).toHaveLength(cases.length);
  });
});
