import {
  type SemanticTokens,
  SemanticTokensBuilder,
  type SemanticTokensLegend,
} from 'vscode-languageserver/node';
import { visit } from '../../editing/edited_text.ts';
import { expressionsIn } from '../../editing/expressions.ts';
import { TOKEN_KINDS, tokensOf } from '../../editing/expression_tokens.ts';
import type { Span } from '../../diagnostics/diagnostic.ts';
import type { TextFacts } from '../open_file.ts';

export const LEGEND: SemanticTokensLegend = { tokenTypes: [...TOKEN_KINDS], tokenModifiers: [] };

/** The words of the expressions in a part of a document: editors know its YAML themselves. */
export function semanticTokensIn(facts: TextFacts, part: Span): SemanticTokens {
  const { edited, document } = facts;
  const builder = new SemanticTokensBuilder();
  let last = -1;
  visit(edited, (place, node) => {
    if (node?.kind !== 'scalar' || node.end < part.start || node.start > part.end) return;
    for (const { source, inFile } of expressionsIn(edited, place, node))
      for (const { kind, start, end } of tokensOf(source)) {
        const span = inFile({ start, end });
        const from = document.positionAt(span.start);
        const isOneLine = document.positionAt(span.end).line === from.line;
        // Parts of an escaped text may share a place: tokens do not overlap, and have one line.
        if (!isOneLine || span.start < last || span.end <= span.start) continue;
        last = span.end;
        builder.push(from.line, from.character, span.end - span.start, TOKEN_KINDS.indexOf(kind), 0);
      }
  });
  return builder.build();
}
