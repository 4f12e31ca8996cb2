import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { hasErrors } from '../../../src/diagnostics/diagnostic.ts';
import { diagnosticsToJson } from '../../../src/diagnostics/json.ts';
import { renderDiagnostics } from '../../../src/diagnostics/render.ts';
import { checkWholeEdge as checkEdge } from '../../../src/edge/semantic_checks.ts';
import { EDGE_CODES } from '../../../src/edge/document/codes.ts';
import { GOOD_EDGE, SMALL_EDGES } from './good_edge.ts';
import { IS_FULL, runs, sized } from '../../random.ts';

const TEXTS = SMALL_EDGES.map((text) => text.split(/(?<=[\s:,{}[\]'"-])/));
const JUNK =
  ` |:|: |- |{|}|[|]|,|"|'|>|#|&a |*admin|*on|!x |0|-1|10001|.nan|~|true|null|x|*|/|?|\${x}|constructor|toString|(|(?=|__proto__`
    .split('|')
    .concat(
      '',
      '|',
      '\n',
      '\t',
      '\u0000',
      '\ud800',
      '😀',
      'ü'.repeat(200),
      '999.1.1.1/8',
      '---\n',
      '%YAML 1.1\n',
    );

const edit = fc.record({
  at: fc.nat(),
  kind: fc.constantFrom('delete', 'replace', 'insert', 'copy', 'cut'),
  other: fc.nat(),
  junk: fc.constantFrom(...JUNK),
});
const mutations = fc.record({
  text: fc.nat(TEXTS.length - 1),
  edits: fc.array(edit, { minLength: 1, maxLength: 3 }),
});

type Mutation = typeof mutations extends fc.Arbitrary<infer Made> ? Made : never;

function mutated({ text, edits }: Mutation): string {
  const original = TEXTS[text]!;
  const pieces = [...original];
  for (const { at, kind, other, junk } of edits) {
    const here = at % pieces.length;
    if (kind === 'delete' && pieces.length > 1) pieces.splice(here, 1);
    else if (kind === 'replace') pieces[here] = junk;
    else if (kind === 'insert') pieces.splice(here, 0, junk);
    else if (kind === 'copy') pieces[here] = original[other % original.length]!;
    else pieces[here] = pieces[here]!.slice(1);
  }
  return pieces.join('');
}

test.each([GOOD_EDGE, ...SMALL_EDGES])('the mutated file is valid: %#', (text) => {
  const { config, diagnostics } = checkEdge({ name: 'good.yaml', text });
  expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
  expect(config).not.toBeNull();
});

test('mutations: no exception, spans within the text, a config exactly when there is no error', () => {
  let withConfig = 0;
  const codes = new Set<string>();
  let run = 0;
  fc.assert(
    fc.property(mutations, (mutation) => {
      const text = mutated(mutation);
      const { config, diagnostics, locate } = checkEdge({ name: 'edge.yaml', text });
      if (config !== null) withConfig++;
      for (const { code, severity, span, source, pointer, fix } of diagnostics) {
        codes.add(code);
        const isSound =
          span !== undefined &&
          source?.text === text &&
          0 <= span.start &&
          span.start <= span.end &&
          span.end <= text.length &&
          (fix === undefined || (fix.span.start >= 0 && fix.span.end <= text.length)) &&
          (pointer === '' || pointer.startsWith('/')) &&
          // Embedded policies have codes of their own.
          (EDGE_CODES[code] === undefined ? severity : (EDGE_CODES[code].severity ?? 'error')) === severity;
        if (!isSound) throw new Error(`${code} at ${pointer} is not sound: ${JSON.stringify(span)}`);
      }
      if ((config !== null) !== !hasErrors(diagnostics)) throw new Error('config and errors disagree');
      if (locate('') === null && config !== null) throw new Error('the whole has a place');
      if (run++ % 20 === 0) {
        renderDiagnostics(diagnostics, { color: false });
        diagnosticsToJson(diagnostics);
      }
    }),
    sized(20_000, 11),
  );
  // The mutations reach both outcomes and most of the codes.
  expect(withConfig).toBeGreaterThan(runs(20_000) / 40);
  expect(codes.size).toBeGreaterThanOrEqual(IS_FULL ? 25 : 20);
});
