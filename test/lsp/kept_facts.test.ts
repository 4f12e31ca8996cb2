import fc from 'fast-check';
import { TextDocument } from 'vscode-languageserver-textdocument';
import { expect, test } from 'vitest';
import { codeLensesOf } from '../../src/lsp/features/code_lens.ts';
import { foldingIn, symbolsIn } from '../../src/lsp/features/outline.ts';
import { KnownTokens, semanticTokensIn } from '../../src/lsp/features/semantic_tokens.ts';
import { placeAt } from '../../src/editing/edited_text.ts';
import { TextFacts } from '../../src/lsp/open_file.ts';
import { LISTS, edited, edits } from '../editing/edits.ts';
import { runs } from '../random.ts';

const factsOf = (text: string, before: TextFacts | null): TextFacts =>
  new TextFacts(TextDocument.create('file:///tmp/edge.yaml', 'yaml', 1, text), before);

/** All that features derive from a text, some of it in parts. */
function derived(facts: TextFacts, share: number) {
  const { names, mentions, keysSeen, edited: own } = facts;
  const end = own.text.length;
  const [from, to] = [Math.floor(share * end), Math.floor((0.3 + share * 0.7) * end)];
  return {
    names,
    mentions,
    keysSeen,
    root: own.root,
    place: placeAt(own, from)?.place.path,
    symbols: symbolsIn(facts),
    folding: foldingIn(facts),
    tokens: semanticTokensIn(facts, { start: 0, end }),
    part: semanticTokensIn(facts, { start: from, end: to }),
    lenses: codeLensesOf(facts, [], { hasCases: true }),
  };
}

test('after each of random edits all answers are those about a text that was never seen before', () => {
  fc.assert(
    fc.property(fc.constantFrom(...LISTS), edits({ most: 8 }), (start, changes) => {
      let text = start;
      let facts = factsOf(text, null);
      derived(facts, 0);
      for (const change of changes) {
        text = edited(text, change);
        facts = factsOf(text, facts);
        const found = derived(facts, change.at);
        expect({ text, ...found }).toEqual({ text, ...derived(factsOf(text, null), change.at) });
      }
    }),
    { numRuns: runs(10_000, 200) },
  );
});

test('a change of tokens turns the earlier ones into the later ones', () => {
  fc.assert(
    fc.property(fc.constantFrom(...LISTS), edits({ most: 8 }), (start, changes) => {
      const known = new KnownTokens();
      let text = start;
      let facts = factsOf(text, null);
      let { resultId, data } = known.all(facts);
      for (const change of changes) {
        text = edited(text, change);
        facts = factsOf(text, facts);
        const answer = known.since(facts, resultId);
        expect('edits' in answer).toBe(true);
        for (const each of 'edits' in answer ? answer.edits : [])
          data = data.toSpliced(each.start, each.deleteCount, ...(each.data ?? []));
        resultId = answer.resultId!;
        expect(data).toEqual(semanticTokensIn(factsOf(text, null), { start: 0, end: text.length }).data);
      }
      expect(known.since(facts, 'another')).toHaveProperty('data');
    }),
    { numRuns: runs(4_000, 100) },
  );
});
