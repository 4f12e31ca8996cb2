import { printable } from '../diagnostics/display.ts';
import { markdownCell } from '../diagnostics/markdown.ts';
import type { EdgeConfig } from '../edge/document/schema.ts';
import { cellsOf } from './cells.ts';
import { whyTooLarge } from './diagram.ts';
import { Analysis, Model } from './model.ts';
import type { Outcome } from './outcome.ts';
import { type Assignment, Solver } from './relations.ts';
import { cellDiagram } from './routed.ts';
import { conditionsOf, eachClass, opaqueIn } from './walk.ts';
import { observe, witnessOf } from './witness.ts';

/** Requests that are treated alike. */
export interface RequestClass {
  readonly where: string;
  readonly conditions: readonly string[];
  /** In words; `unknown` and why, if the classes of this place are too many. */
  readonly outcome: string;
}

/** All classes of requests that a configuration distinguishes, disjoint, in the order of hosts and paths. */
export function classesOf(config: EdgeConfig): readonly RequestClass[] {
  const analysis = new Analysis();
  const model = new Model(inOrder(config), analysis);
  const classes: RequestClass[] = [];
  for (const cell of cellsOf([model])) {
    const solver = new Solver(cell.within);
    const own: RequestClass[] = [];
    const unknown = (reason: string): void =>
      void own.splice(0, own.length, { where: cell.message, conditions: [], outcome: `unknown: ${reason}` });
    try {
      const diagram = cellDiagram(model, cell, 0, 'own');
      const isWhole = eachClass(
        [diagram],
        solver,
        () => false,
        (assignment, [outcome]) => {
          own.push({
            where: cell.message,
            conditions: conditionsOf(assignment),
            outcome: `${outcomeText(outcome!)}${statusText(model, outcome!, assignment, solver)}`,
          });
        },
      );
      if (!isWhole) unknown('there are too many classes');
    } catch (error) {
      unknown(whyTooLarge(error));
    }
    classes.push(...own);
  }
  return classes.toSorted((one, other) => (one.where < other.where ? -1 : one.where > other.where ? 1 : 0));
}

/** The status that the edge itself responds with, if the class does not depend on anything but the request. */
function statusText(model: Model, { end, by }: Outcome, assignment: Assignment, solver: Solver): string {
  if (end === 'forwarded' || by === 'login' || opaqueIn(assignment).length > 0) return '';
  const values = solver.solve(assignment);
  const witness = typeof values === 'object' ? witnessOf(values) : null;
  const observed = witness === null ? null : observe(model, witness);
  return observed?.explanation.decidedBy.verdict === 'stop' ? `, status ${observed.status}` : '';
}

const PASSAGES = {
  passed: '',
  exempted: ' (which exempts it)',
  reports: ' (which stops nothing)',
  later: '',
} as const;

function outcomeText({ end, by, effects }: Outcome): string {
  const types = effects
    .filter(({ type }) => type !== `backend ${by}`)
    .map(({ type, passage }) => `${type}${PASSAGES[passage]}`);
  const through = types.length === 0 ? '' : ` through ${types.join(', ')}`;
  if (end === 'forwarded') return `forwarded to ${by === '' ? 'no backend' : by}${through}`;
  return `${end} by ${by}${through}`;
}

/** The same configuration with its maps in the order of their keys: how a file is sorted changes nothing. */
function inOrder(config: EdgeConfig): EdgeConfig {
  const { edges, backends, ip_policies: policies } = config;
  const { https, tls, tcp } = edges;
  return {
    ...config,
    backends: sorted(backends),
    ip_policies: sorted(policies),
    edges: { ...edges, https: sorted(https), tls: sorted(tls), tcp: sorted(tcp) },
  };
}

function sorted<Value>(map: Readonly<Record<string, Value>>): Readonly<Record<string, Value>> {
  const entries = Object.entries(map).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(entries);
}

/** The classes for a terminal. */
export function classesText(classes: readonly RequestClass[]): string {
  const blocks = classes.map(({ where, conditions, outcome }) =>
    [where, ...conditions.map((condition) => `  ${condition}`), `  → ${outcome}`].map(printable).join('\n'),
  );
  return `${blocks.join('\n\n')}\n`;
}

/** The classes as a table in Markdown, one line each: to commit, and to read in a review. */
export function classesMarkdown(classes: readonly RequestClass[]): string {
  const rows = classes.map(({ where, conditions, outcome }) => {
    const all = conditions.map((condition) => markdownCell(condition)).join('<br>');
    return `| ${markdownCell(where)} | ${all} | ${markdownCell(outcome)} |\n`;
  });
  return `| requests to | that | outcome |\n|---|---|---|\n${rows.join('')}`;
}
