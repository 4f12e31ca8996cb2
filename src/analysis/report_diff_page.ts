import type { LabelledText, ListReport, ReportedGroup } from '../reports/data.ts';
import { reportPage } from '../reports/page.ts';
import { CHANGES, type ChangedRegion, type Comparison, type UndecidedRegion } from './comparison.ts';
import { blameText, circumstances, conclusion, curlOf, deciders, resultOf, sizeText } from './report_diff.ts';
import type { DiffNames } from './report_diff_sarif.ts';

/** A comparison as one page. */
export function diffPage(comparison: Comparison, names: DiffNames): string {
  return reportPage(diffReport(comparison, names));
}

export function diffReport(comparison: Comparison, { before, after, version }: DiffNames): ListReport {
  const { changes, undecided, verdict } = comparison;
  const groups = CHANGES.flatMap((change): ReportedGroup[] => {
    const own = changes.filter((region) => region.change === change);
    if (own.length === 0) return [];
    const tone = change === 'OPENED' ? 'bad' : 'odd';
    return [{ name: change, tone, count: own.length, items: own.map(itemOf) }];
  });
  const open: ReportedGroup[] =
    undecided.length === 0
      ? []
      : [{ name: 'UNDECIDED', tone: 'odd', count: undecided.length, items: undecided.map(openItemOf) }];
  return {
    kind: 'list',
    title: `${before} → ${after}`,
    conclusion: conclusion(comparison),
    isGood: verdict === 'equivalent',
    version,
    figures: [],
    tables: [],
    groups: [...groups, ...open],
  };
}

function itemOf(region: ChangedRegion): ReportedGroup['items'][number] {
  const { where, conditions, size, differs, witness, replayed, blame } = region;
  const rows: LabelledText[] = [
    ['before', resultOf(replayed.before)],
    ['after', resultOf(replayed.after)],
    ...conditions.map((condition, at) => [at === 0 ? 'where' : 'and', condition] as const),
    ['size', sizeText(size)],
    ...differs.map((each) => ['differs', each] as const),
    ...(blame === undefined ? [] : [['because', blameText(blame)] as const]),
    ...deciders(region),
    ['try', `${curlOf(witness)}   from ${witness.clientIp}${circumstances(witness)}`],
  ];
  return { title: where, rows, isOpen: true };
}

function openItemOf({ where, conditions, reasons }: UndecidedRegion): ReportedGroup['items'][number] {
  const rows: LabelledText[] = [
    ...conditions.map((condition, at) => [at === 0 ? 'where' : 'and', condition] as const),
    ...reasons.map((each) => ['because', each] as const),
  ];
  return { title: where, rows, isOpen: true };
}
