import type { EdgeConfig } from '../edge/document/schema.ts';
import { cellsOf } from './cells.ts';
import { whyTooLarge } from './diagram.ts';
import { Analysis, Model } from './model.ts';
import type { Outcome } from './outcome.ts';
import { Solver } from './relations.ts';
import { cellDiagram } from './routed.ts';
import { conditionsOf, eachClass } from './walk.ts';

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
  const model = new Model(config, analysis);
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
            outcome: outcomeText(outcome!),
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
