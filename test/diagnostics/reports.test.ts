import { describe, expect, test } from 'vitest';
import { annotation, diagnosticsAnnotations, diagnosticsSummary } from '../../src/diagnostics/annotations.ts';
import type { Diagnostic } from '../../src/diagnostics/diagnostic.ts';
import { diagnosticsJunit } from '../../src/diagnostics/junit.ts';
import { diagnosticsSarif } from '../../src/diagnostics/sarif.ts';
import { sarifProblems } from '../sarif.ts';

const source = { name: 'conf/my edge.yaml', text: 'a: 😀 1\nb: [2, 2]\n' };
const warning: Diagnostic = {
  code: 'analysis.redundant_element',
  severity: 'warning',
  message: 'Removing `2` | changes nothing,\n100 %.',
  pointer: '/b/1',
  basis: 'proved',
  notes: ['because of line 2, column 5'],
  source,
  span: { start: 15, end: 16 },
  fix: { message: 'remove it', span: { start: 13, end: 16 }, text: '', safe: true },
};
const error: Diagnostic = {
  code: 'edge.test',
  severity: 'error',
  message: 'No such <key> & "value".',
  pointer: '/a',
  hint: "did you mean 'b'?",
  source,
  span: { start: 6, end: 7 },
};
/** A finding about a configuration that was not read from a file. */
const bare: Diagnostic = { code: 'edge.test', severity: 'error', message: 'Nothing here.', pointer: '' };

describe('findings for other tools', () => {
  test('an annotation has place, code, hint and notes in one line', () => {
    expect(diagnosticsAnnotations([warning, error, bare])).toBe(
      [
        '::warning file=conf/my edge.yaml,line=2,col=8,title=analysis.redundant_element::Removing `2` | changes nothing,%0A100 %25.%0Abecause of line 2, column 5',
        '::error file=conf/my edge.yaml,line=1,col=6,title=edge.test::No such <key> & "value".%0Adid you mean \'b\'?',
        '::error title=edge.test::Nothing here.',
        '',
      ].join('\n'),
    );
    expect(annotation('notice', { file: 'a,b:c' }, 'x', 'y')).toBe('::notice file=a%2Cb%3Ac,title=x::y\n');
  });

  test('the summary is a table whose cells cannot be left', () => {
    const rows = diagnosticsSummary([warning, error], ['e.yaml']).split('\n');
    expect(rows.slice(4)).toEqual([
      String.raw`| warning | \`conf/my edge.yaml:2:8\` | \`analysis.redundant_element\` | \`\` Removing \`2\` \| changes nothing, 100 %. \`\` |`.replaceAll(
        '\\`',
        '`',
      ),
      '| error | `conf/my edge.yaml:1:6` | `edge.test` | `No such <key> & "value".` |',
      '',
    ]);
    expect(diagnosticsSummary([], ['e.yaml'])).toContain('`e.yaml`: no problems found');
  });

  test('JUnit fails for errors and tells warnings', () => {
    const text = diagnosticsJunit([warning, error], [source.name, 'good.yaml']);
    expect(text).toContain('<testsuites name="edgeproof check" tests="3" failures="1"');
    expect(text).toContain('<failure message="No such &lt;key&gt; &amp; &quot;value&quot;.">');
    expect(text).toContain('<system-out>conf/my edge.yaml:2:8 warning analysis.redundant_element');
    expect(text).toContain('<testcase name="no problems found" classname="good.yaml" time="0"/>');
  });

  test('SARIF is valid, and has place, fix, basis and a stable fingerprint', () => {
    const log = diagnosticsSarif([warning, error, bare], '1.2.3', (code) =>
      code === 'edge.test' ? 'A test.' : null,
    );
    expect(sarifProblems(log)).toEqual([]);
    expect(log).toMatchObject({
      runs: [
        {
          tool: {
            driver: {
              rules: [
                { id: 'analysis.redundant_element' },
                { id: 'edge.test', shortDescription: { text: 'A test.' } },
              ],
            },
          },
          results: [
            {
              ruleId: 'analysis.redundant_element',
              ruleIndex: 0,
              level: 'warning',
              locations: [
                {
                  physicalLocation: {
                    artifactLocation: { uri: 'conf/my%20edge.yaml' },
                    region: { startLine: 2, startColumn: 8, endLine: 2, endColumn: 9 },
                  },
                },
              ],
              fixes: [
                {
                  artifactChanges: [
                    { replacements: [{ deletedRegion: { startLine: 2, startColumn: 6, endColumn: 9 } }] },
                  ],
                },
              ],
              partialFingerprints: { 'finding/v1': 'analysis.redundant_element /b/1' },
              properties: { pointer: '/b/1', basis: 'proved' },
            },
            // Columns count characters, not UTF-16 units.
            { ruleIndex: 1, locations: [{ physicalLocation: { region: { startColumn: 6 } } }] },
            { ruleIndex: 1, level: 'error' },
          ],
        },
      ],
    });
  });
});
