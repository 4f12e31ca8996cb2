import { circumstances, curlOf } from '../analysis/report_diff.ts';
import { MUTATION_OPERATORS, type MutationOperator } from '../analysis/mutation_operators.ts';
import { printable } from '../diagnostics/display.ts';
import { xml } from '../diagnostics/xml.ts';
import type { ListReport } from '../reports/data.ts';
import { reportPage } from '../reports/page.ts';
import { type MutationResult, type Survivor, scoreOf } from './mutate.ts';

/** The result for a terminal. */
export function mutationText(result: MutationResult): string {
  return `${[...result.survivors.map(survivorText), conclusion(result)].join('\n')}\n`;
}

function survivorText(survivor: Survivor): string {
  const { operator, message } = survivor;
  return [
    `survives  ${placeOf(survivor)}   ${operator}`,
    `          ${printable(message)}`,
    `          ${printable(hintOf(survivor))}`,
  ].join('\n');
}

function placeOf({ place, pointer }: Survivor): string {
  return place === null ? pointer : `${place.file}:${place.line}:${place.column}`;
}

function hintOf({ witness, reasons }: Survivor): string {
  if (witness === null) return `not decided: ${reasons.join('; ')}`;
  return `try ${curlOf(witness)} from ${witness.clientIp}${circumstances(witness)}`;
}

function conclusion(result: MutationResult): string {
  const { killed, refused, equivalent, survivors, left } = result;
  const more = left > 0 ? `, ${left} not tried` : '';
  return `${scoreOf(result).toFixed(1)} % noticed: ${killed} killed, ${survivors.length} survive, ${equivalent} proved equivalent, ${refused} refused by the check${more}`;
}

/** The result as data. */
function mutationJson(result: MutationResult): string {
  const survivors = result.survivors.map(({ witness, ...survivor }) => ({
    ...survivor,
    ...(witness !== null && { witness, try: curlOf(witness) }),
  }));
  return `${JSON.stringify({ score: scoreOf(result), ...result, survivors }, null, 2)}\n`;
}

/** The result as JUnit XML: a test case for each kind of mistake, and one for each survivor. */
export function mutationJunit(result: MutationResult): string {
  const { survivors } = result;
  const kinds = Object.entries(result.operators).filter(([, { survived }]) => survived === 0);
  const passed = kinds.map(
    ([name, { killed }]) =>
      `    <testcase name="${xml(`${name}: ${killed} noticed`)}" classname="mutate" time="0"/>\n`,
  );
  const failed = survivors.map((survivor) => {
    const name = `${survivor.operator}: ${survivor.pointer}: ${survivor.message}`;
    const message = `no case notices that ${survivor.message}`;
    const text = `${placeOf(survivor)}\n${hintOf(survivor)}`;
    return `    <testcase name="${xml(name)}" classname="mutate" time="0"><failure message="${xml(message)}">${xml(text)}</failure></testcase>\n`;
  });
  const counts = `tests="${passed.length + failed.length}" failures="${failed.length}" errors="0"`;
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="edgeproof" ${counts} time="0">\n  <testsuite name="mutate" ${counts} skipped="0" time="0">\n${[...passed, ...failed].join('')}  </testsuite>\n</testsuites>\n`;
}

/** The result as one page. */
function mutationPage(result: MutationResult, version: string): string {
  return reportPage(mutationReport(result, version));
}

export function mutationReport(result: MutationResult, version: string): ListReport {
  const { operators, survivors } = result;
  return {
    kind: 'list',
    title: 'Mistakes that no case notices',
    conclusion: conclusion(result),
    isGood: survivors.length === 0,
    version,
    figures: [[`${scoreOf(result).toFixed(1)} %`, 'noticed']],
    tables: [
      {
        title: 'Mistakes by kind',
        columns: ['operator', 'killed', 'survive', ''],
        rows: Object.entries(operators).map(([name, { killed, survived }]) => [
          name,
          String(killed),
          String(survived),
          MUTATION_OPERATORS[name as MutationOperator],
        ]),
      },
    ],
    groups: [
      {
        name: 'Survivors',
        tone: 'bad',
        count: survivors.length,
        items: survivors.map((survivor) => ({
          title: `${placeOf(survivor)}: ${survivor.message}`,
          rows: [
            ['operator', survivor.operator],
            ['notice it', hintOf(survivor)],
          ],
          isOpen: true,
        })),
      },
    ],
  };
}

/** The reports of `mutate`, and of its merged parts. */
export const MUTATION_REPORTERS = {
  text: mutationText,
  json: mutationJson,
  html: mutationPage,
  junit: mutationJunit,
};
