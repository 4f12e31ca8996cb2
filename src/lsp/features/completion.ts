import {
  type CompletionItem,
  CompletionItemKind,
  type CompletionList,
  MarkupKind,
  type Range,
} from 'vscode-languageserver/node';
import type { Candidate } from '../../editing/schema_candidates.ts';
import { type KnownNames, completionsIn } from '../../editing/complete.ts';
import type { TextFacts } from '../open_file.ts';

const KINDS: Readonly<Record<Candidate['kind'], CompletionItemKind>> = {
  key: CompletionItemKind.Property,
  value: CompletionItemKind.EnumMember,
  name: CompletionItemKind.Reference,
  function: CompletionItemKind.Function,
  variable: CompletionItemKind.Variable,
};

/** What can be written at an offset. */
export function completionAt(facts: TextFacts, offset: number, names: KnownNames): CompletionList {
  const { start, end, candidates } = completionsIn(facts.edited, offset, names);
  const range = facts.rangeOf({ start, end });
  return { isIncomplete: false, items: candidates.map((candidate) => itemOf(candidate, range)) };
}

function itemOf({ text, kind, doc, detail }: Candidate, range: Range): CompletionItem {
  return {
    label: text.replace(/: $/, ''),
    kind: KINDS[kind],
    // Editors filter by what is replaced, which may have dots.
    filterText: text,
    textEdit: { range, newText: text },
    ...(detail !== undefined && { detail }),
    ...(doc !== '' && { documentation: { kind: MarkupKind.Markdown, value: doc } }),
  };
}
