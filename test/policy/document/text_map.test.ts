import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyText } from '../../any_text.ts';
import { Document, Scalar, isScalar, parseDocument } from 'yaml';
import { quotedScalar } from '../../../src/config_file/quoted_scalar.ts';
import { composed, identityMap, scalarMap } from '../../../src/policy/document/text_map.ts';
import { unitsOf } from '../../../src/policy/document/scalar.ts';
import { runs, sized } from '../../random.ts';

function scalarIn(file: string): { text: string; span: { start: number; end: number } } {
  const document = parseDocument(file);
  const node = document.getIn(['top', 'key'], true) ?? document.getIn(['top', 0], true);
  if (!isScalar(node) || typeof node.value !== 'string')
    throw new Error(`no text in ${JSON.stringify(file)}`);
  return { text: node.value, span: { start: node.range![0], end: node.range![1] } };
}

const STYLES = ['PLAIN', 'QUOTE_SINGLE', 'QUOTE_DOUBLE', 'BLOCK_LITERAL', 'BLOCK_FOLDED'] as const;

/** The library writes a few plain strings so that they do not parse back; those are skipped. */
function isRead(file: string): boolean {
  const document = parseDocument(file);
  return typeof (document.getIn(['top', 'key']) ?? document.getIn(['top', 0])) === 'string';
}

const word = fc.stringMatching(/^[a-z'"\\#:!é\u{1f600} \n\t${}()=&|.,-]{0,40}$/u);

describe('the places of a scalar', () => {
  it.each([
    ['plain', 'top:\n  key: a plain text # note\n'],
    ['plain on two lines', 'top:\n  key: a plain\n    text\n\n    more\n'],
    ['single', "top:\n  key: 'it''s \n    folded'\n"],
    ['double', 'top:\n  key: "tab\\t \\u00e9 \\x41 \\\n    joined\\n\n\n    and  folded"\n'],
    ['literal', 'top:\n  key: |\n    one\n      two\n\n    three\n'],
    ['literal, kept', 'top:\n  key: |+\n    one\n\n\n'],
    ['literal, stripped, with a note', 'top:\n  key: |- # note\n    one\n    two\n'],
    ['literal, own indentation', 'top:\n  key: |2\n      one\n    two\n'],
    ['folded', 'top:\n  key: >\n    one\n    two\n\n    three\n      deeper\n    last\n'],
    ['folded, kept', 'top:\n  key: >+\n\n    one\n\n\n    two\n\n'],
    ['carriage returns', 'top:\r\n  key: |\r\n    one\r\n    two\r\n'],
  ])('%s: are found unit by unit', (_name, file) => {
    const { text, span } = scalarIn(file);
    const units = unitsOf(file, span, text);
    expect(units?.text).toBe(text);
    const written = units!.starts.map((start, index) => file.slice(start, units!.ends[index]));
    const letters = written.filter((part) => /^[a-z]$/.test(part)).join('');
    expect(letters).toBe(text.replace(/[^a-z]/g, ''));
  });

  it('are found in the output of the YAML library, in all styles', () => {
    let read = 0;
    fc.assert(
      fc.property(word, fc.constantFrom(...STYLES), fc.boolean(), (text, type, flow) => {
        const scalar = new Scalar(text);
        scalar.type = type;
        const document = new Document(flow ? { top: [scalar] } : { top: { key: scalar } });
        const file = document.toString({ lineWidth: 20 });
        fc.pre(isRead(file));
        const found = scalarIn(file);
        const units = unitsOf(file, found.span, found.text);
        if (units !== undefined) read++;
        expect(units?.text).toBe(found.text);
        expect(units!.starts).toEqual([...units!.starts].sort((a, b) => a - b));
        for (const end of units!.ends) expect(end).toBeLessThanOrEqual(found.span.end);
      }),
      sized(5000, 4),
    );
    expect(read).toBe(runs(5_000));
  });

  it('take edits that read back as edited, or refuse', () => {
    let edited = 0;
    fc.assert(
      fc.property(
        word,
        fc.constantFrom(...STYLES),
        fc.boolean(),
        fc.nat(),
        fc.nat(),
        word,
        (text, type, flow, from, length, replacement) => {
          const scalar = new Scalar(text);
          scalar.type = type;
          const document = new Document(
            flow ? { top: [scalar, 'after'] } : { top: { key: scalar, after: 1 } },
          );
          const file = document.toString({ lineWidth: 0 });
          fc.pre(isRead(file));
          const found = scalarIn(file);
          const start = from % (found.text.length + 1);
          const end = Math.min(start + (length % 5), found.text.length);
          const edit = scalarMap(file, found.span, found.text).edit({ start, end }, replacement);
          if (edit === null) return;
          edited++;
          const after = file.slice(0, edit.span.start) + edit.text + file.slice(edit.span.end);
          const wanted = found.text.slice(0, start) + replacement + found.text.slice(end);
          // Blocks end where their indentation ends: only changes inside a line are sure to parse back.
          const block = /[|>]/.test(file[found.span.start]!);
          const inside = /\w/.test(found.text[start - 1] ?? '') && /\w/.test(found.text[end] ?? '');
          if (block && (!inside || !/^\S*$/.test(replacement))) return;
          expect(scalarIn(after).text).toBe(wanted);
        },
      ),
      sized(5000, 4),
    );
    expect(edited).toBeGreaterThan(runs(5_000) * 0.6);
  });

  it('are found in a text inside a text', () => {
    const inner = "on_http_request:\n- name: 'it''s'\n";
    const file = JSON.stringify({ value: inner });
    const outer = scalarMap(file, { start: file.indexOf('"on'), end: file.length - 1 }, inner);
    const at = inner.indexOf("'it");
    const name = scalarMap(inner, { start: at, end: inner.length - 1 }, "it's");
    const place = composed(name, outer).spanOf({ start: 0, end: 4 });
    expect(file.slice(place.start, place.end)).toBe("it''s");
    const edit = composed(name, outer).edit({ start: 0, end: 4 }, 'say "it\'s"');
    expect(edit!.text).toBe('say \\"it\'\'s\\"');
    expect(identityMap(3).spanOf({ start: 1, end: 2 })).toEqual({ start: 4, end: 5 });
  });

  it('quotes a text so that it parses to the same text', () => {
    fc.assert(
      fc.property(anyText({ maxLength: 20 }), (text) => {
        fc.pre(text.isWellFormed());
        expect(parseDocument(`top: [${quotedScalar(text)}]`).getIn(['top', 0])).toBe(text);
      }),
      sized(300, 4),
    );
  });
});
