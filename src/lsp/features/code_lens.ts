import type { CodeLens, Range } from 'vscode-languageserver/node';
import { counted } from '../../diagnostics/message_text.ts';
import { collector } from '../../editing/collected.ts';
import { entryOf } from '../../editing/edited_text.ts';
import { PHASES } from '../../filters/phase.ts';
import type { WireFinding, WirePoint } from '../messages.ts';
import type { TextFacts } from '../open_file.ts';

/** The commands that editors ask the server to run. */
export const COMMANDS = {
  run: 'edgeproof.runCase',
  explain: 'edgeproof.explainCase',
  repair: 'edgeproof.repair',
} as const;

/** What a lens is about, until its coverage is counted. */
export interface LensData {
  readonly uri: string;
  readonly line: number;
}

/** Where each case of a scenario file begins: its index in the list, and the place of its name. */
export function casesIn({
  edited,
}: TextFacts): readonly { readonly index: number; readonly start: number }[] {
  const { root, tree, text } = edited;
  const cases = root === 'scenario' && tree?.kind === 'map' ? entryOf(text, tree, 'cases') : null;
  if (cases?.kind !== 'list') return [];
  return cases.items.flatMap((item, index) => (item === null ? [] : [{ index, start: item.start }]));
}

/** Where the rules and routes of a file begin. */
const reachablePlaces = collector<number>(
  (found) =>
    ({ path }, node) => {
      if (node?.kind !== 'list') return;
      const last = path.at(-1) ?? '';
      if (!(PHASES as readonly string[]).includes(last) && last !== 'routes') return;
      for (const item of node.items) if (item !== null) found(item.start);
    },
  (start, by) => start + by,
);

/** Commands above cases; what is dead, with its repair; and coverage, which is counted when a lens is shown. */
export function codeLensesOf(
  facts: TextFacts,
  findings: readonly WireFinding[],
  { hasCases }: { readonly hasCases: boolean },
): CodeLens[] {
  const { uri } = facts.document;
  const lenses: CodeLens[] = [];
  for (const { index, start } of casesIn(facts)) {
    const range = lineRange(facts, start);
    lenses.push(
      { range, command: { title: 'Run case', command: COMMANDS.run, arguments: [uri, index] } },
      { range, command: { title: 'Explain', command: COMMANDS.explain, arguments: [uri, index] } },
    );
  }
  for (const { file, range, code, message, fix } of findings) {
    if (file !== facts.name || fix === null || !code.startsWith('analysis.')) continue;
    const [title] = message.split('\n');
    lenses.push({
      range,
      command: { title: title!, command: COMMANDS.repair, arguments: [uri, range, code] },
    });
  }
  if (!hasCases) return lenses;
  for (const start of reachablePlaces(facts.edited)) {
    const range = lineRange(facts, start);
    lenses.push({ range, data: { uri, line: range.start.line } satisfies LensData });
  }
  return lenses;
}

/** What a lens says of the rule or route on its line. */
export function coverageTitle(points: readonly WirePoint[], line: number): string {
  const own = points.filter((point) => point.line === line);
  const hits = own.reduce((sum, point) => sum + point.hits, 0);
  if (hits > 0) return `reached ${counted(hits, 'time')}`;
  const why = own.find((point) => point.why !== null)?.why;
  return why === undefined || why === null ? 'coverage is not known' : `not reached: ${why}`;
}

function lineRange(facts: TextFacts, start: number): Range {
  const from = facts.document.positionAt(start);
  return { start: from, end: from };
}
