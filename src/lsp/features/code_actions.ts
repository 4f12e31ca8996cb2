import { type CodeAction, CodeActionKind, type Range } from 'vscode-languageserver/node';
import { quotedScalar } from '../../config_file/quoted_scalar.ts';
import { placeAt, rawText } from '../../editing/edited_text.ts';
import type { WireFinding, WireRange } from '../messages.ts';
import type { TextFacts } from '../open_file.ts';

/** The kind of the action that applies all safe repairs. */
export const FIX_ALL: string = `${CodeActionKind.SourceFixAll}.edgeproof`;

interface Asked {
  readonly range: Range;
  readonly only: readonly string[] | undefined;
}

/** The repairs of findings in a range, and what can be done with the value there. */
export function codeActionsAt(
  facts: TextFacts,
  findings: readonly WireFinding[],
  { range, only }: Asked,
): CodeAction[] {
  const { uri } = facts.document;
  const wants = (kind: string): boolean =>
    only === undefined || only.some((each) => kind === each || kind.startsWith(`${each}.`));
  const repairs = findings.flatMap(
    ({ file, range: at, severity, code, message, fix }): readonly CodeAction[] => {
      if (fix === null || file !== facts.name || !meet(at, range)) return [];
      const diagnostic = {
        range: at,
        severity: severity === 'error' ? (1 as const) : (2 as const),
        code,
        source: 'edgeproof',
        message,
      };
      const edit = { changes: { [uri]: [{ range: fix.range, newText: fix.text }] } };
      return [
        {
          title: fix.message,
          kind: CodeActionKind.QuickFix,
          diagnostics: [diagnostic],
          isPreferred: fix.safe,
          edit,
        },
      ];
    },
  );
  return [
    ...(wants(CodeActionKind.QuickFix) ? repairs : []),
    ...(wants(CodeActionKind.RefactorRewrite) ? quoting(facts, range) : []),
    // Its edit is made when it is chosen.
    ...(wants(FIX_ALL) ? [{ title: 'Apply all safe repairs', kind: FIX_ALL, data: { uri } }] : []),
  ];
}

function meet(one: WireRange, other: Range): boolean {
  return !isBefore(one.end, other.start) && !isBefore(other.end, one.start);
}

function isBefore(one: Range['start'], other: Range['start']): boolean {
  return one.line < other.line || (one.line === other.line && one.character < other.character);
}

function quoting(facts: TextFacts, { start }: Range): CodeAction[] {
  const { edited, document } = facts;
  const found = placeAt(edited, document.offsetAt(start));
  if (found?.node?.kind !== 'scalar' || found.isOnKey || found.node.style !== 'plain') return [];
  const { node } = found;
  const written = rawText(edited.text, node);
  if (/[\r\n]/.test(written)) return [];
  const newText = quotedScalar(written);
  const edit = { changes: { [document.uri]: [{ range: facts.rangeOf(node), newText }] } };
  return [{ title: 'Quote this value', kind: CodeActionKind.RefactorRewrite, edit }];
}
