import { type CodeAction, CodeActionKind, type TextEdit } from 'vscode-languageserver/node';
import { entryOf } from '../../editing/edited_text.ts';
import type { WirePoint } from '../messages.ts';
import type { TextFacts } from '../open_file.ts';

/** Offered where no case reaches a rule or a route, and one could; its edit is made when it is chosen. */
export function missingCaseAt(facts: TextFacts, points: readonly WirePoint[], line: number): CodeAction[] {
  if (!points.some((point) => point.line === line && point.isOpen)) return [];
  const data = { uri: facts.document.uri, line };
  return [{ title: 'Add the missing case', kind: CodeActionKind.RefactorRewrite, data }];
}

/** The edit that adds lines of a case to a scenario file; null if its list of cases has brackets. */
export function additionOf({ edited, document }: TextFacts, lines: string): TextEdit | null {
  const { tree, text } = edited;
  const list = tree?.kind === 'map' ? entryOf(text, tree, 'cases') : null;
  const dash = list?.kind === 'list' ? list.dashes[0] : undefined;
  if (list === null || dash === undefined) return null;
  const column = dash - (text.lastIndexOf('\n', dash - 1) + 1);
  const end = list.start + text.slice(list.start, list.end).trimEnd().length;
  const moved = lines
    .trimEnd()
    .split('\n')
    .map((line) => ' '.repeat(column) + line.slice(WRITTEN_COLUMN));
  const at = document.positionAt(lineEnd(text, end));
  return {
    range: { start: at, end: at },
    newText: ['', ...moved].join(text.includes('\r\n') ? '\r\n' : '\n'),
  };
}

/** The column of the cases in a new scenario file. */
const WRITTEN_COLUMN = 2;

/** The end of the line of an offset, after a comment there. */
function lineEnd(text: string, offset: number): number {
  const end = text.indexOf('\n', offset);
  const last = end < 0 ? text.length : end;
  return text[last - 1] === '\r' ? last - 1 : last;
}
