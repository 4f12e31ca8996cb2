import type { Cell } from './cells.ts';
import type { AnalysisCode } from './codes.ts';
import type { Diagram } from './diagram.ts';
import type { Model } from './model.ts';
import { type Satisfied, Solver } from './relations.ts';
import { eachClass } from './walk.ts';
import type { Witness } from './witness.ts';

/** What an analysis found at a part of the configuration. */
export interface Found {
  readonly code: AnalysisCode;
  /** JSON pointer of the part. */
  readonly pointer: string;
  /** What in particular, as a sentence without its full stop. */
  readonly detail?: string;
  /** Pointers of the parts that cause it, those that take most first. */
  readonly causes?: readonly string[];
  /** Whether it is proved that nothing changes if the part, an element of a list, is removed. */
  readonly isRemovable?: boolean;
  /** The expression at the pointer, and a shorter one which is proved to mean the same there. */
  readonly shorter?: { readonly from: string; readonly to: string };
  /** A request that shows it; the engine was run on it. */
  readonly witness?: Witness;
}

/**
 * Whether requests of a cell may have a leaf; a request if one was found. True and null if that is not decided. A solver
 * of the cell that is shared finds each text once.
 */
export function possible<Leaf>(
  { within }: Cell,
  diagram: Diagram<Leaf>,
  isWanted: (leaf: Leaf) => boolean,
  solver = new Solver(within),
): { readonly isPossible: boolean; readonly values: Exclude<Satisfied, string> | null } {
  if ('leaf' in diagram && !isWanted(diagram.leaf)) return { isPossible: false, values: null };
  let isFound = false;
  let values: Exclude<Satisfied, string> | null = null;
  const isWhole = eachClass(
    [diagram],
    solver,
    ([node]) => values !== null || ('leaf' in node! && !isWanted(node.leaf)),
    (assignment) => {
      const solved = solver.solve(assignment);
      isFound ||= solved !== 'none';
      if (typeof solved === 'object') values = solved;
    },
  );
  return { isPossible: isFound || !isWhole, values };
}

/** The cells of each route, by the pointer of its pipeline. */
export function cellsByRoute(cells: Iterable<Cell>): ReadonlyMap<string, readonly Cell[]> {
  const byRoute = new Map<string, Cell[]>();
  for (const cell of cells) {
    const [routed] = cell.routed;
    if (typeof routed !== 'object') continue;
    const known = byRoute.get(routed.pipeline.pointer);
    if (known === undefined) byRoute.set(routed.pipeline.pointer, [cell]);
    else known.push(cell);
  }
  return byRoute;
}

/** A configuration with the cells of its routes. */
export interface Examined {
  readonly model: Model;
  readonly cells: ReadonlyMap<string, readonly Cell[]>;
}
