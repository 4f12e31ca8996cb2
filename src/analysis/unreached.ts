import type { Cell } from './cells.ts';
import { type Diagram, whyTooLarge, type Truth } from './diagram.ts';
import { type ExaminedPolicy, takersOf } from './expression_findings.ts';
import { type Examined, type Found, possible } from './finding.ts';
import type { Model } from './model.ts';
import { cellDiagram } from './routed.ts';

/** Which parts requests reach, by their pointers, as far as it is known. */
interface Reaching {
  readonly alive: Map<string, boolean>;
  /** Rules: whether a request fulfils them without another spelling of its path. */
  readonly written: Map<string, boolean>;
  /** Routes of which not everything is known. */
  readonly unknown: string[];
}

/** Routes, rules and actions that no request reaches, and rules that it reaches in other spellings only. */
export function unreached(examined: Examined, policies: readonly ExaminedPolicy[]): readonly Found[] {
  const { model, cells } = examined;
  const { alive, written, unknown } = reachingOf(examined);
  const isKnown = (pointer: string): boolean => !unknown.some((route) => pointer.startsWith(`${route}/`));
  const dead = Array.from(alive).flatMap(([pointer, isAlive]): Found[] => {
    if (isAlive || !isKnown(pointer)) return [];
    const isAction = /\/actions\/\d+$/.test(pointer);
    if (!isAction) {
      const policy = policies.find(({ place }) => pointer.startsWith(`${place.pointer}/`));
      const because = policy === undefined ? [] : takersOf(policy, pointer);
      return [{ code: 'analysis.dead_rule', pointer, because, isRemovable: true }];
    }
    // The actions of a dead rule are dead with it.
    return alive.get(pointer.replace(/\/actions\/\d+$/, '')) === true
      ? [{ code: 'analysis.dead_action', pointer, isRemovable: true }]
      : [];
  });
  const respelled = Array.from(written).flatMap(([pointer, isWritten]): Found[] =>
    isWritten || alive.get(pointer) !== true || !isKnown(pointer)
      ? []
      : [{ code: 'analysis.dead_path', pointer }],
  );
  const edges = Object.keys(model.config.edges.https);
  const routes = model.compiled.https
    .filter(({ name }) => edges.includes(name))
    .flatMap(({ pipelines }) => pipelines)
    .filter(({ pointer }) => !cells.has(pointer))
    .map(({ pointer }): Found => ({ code: 'analysis.dead_route', pointer }));
  return [...routes, ...dead, ...respelled];
}

function reachingOf(examined: Examined): Reaching {
  const reaching: Reaching = { alive: new Map(), written: new Map(), unknown: [] };
  for (const [route, own] of examined.cells)
    for (const cell of own) if (!addReached(reaching, examined.model, cell)) reaching.unknown.push(route);
  return reaching;
}

/** Adds what the requests of a cell reach; false if not all of it is known. */
function addReached({ alive, written: fulfilled }: Reaching, model: Model, cell: Cell): boolean {
  const reaches: (readonly [Map<string, boolean>, pointer: string, reach: Diagram<Truth>])[] = [];
  let isWhole = true;
  try {
    cellDiagram(model, cell, 0, 'own', (pointer, reach, written) => {
      reaches.push([alive, pointer, reach]);
      if (written !== undefined) reaches.push([fulfilled, pointer, written]);
    });
  } catch (error) {
    whyTooLarge(error);
    isWhole = false;
  }
  for (const [known, pointer, reach] of reaches)
    if (known.get(pointer) !== true)
      known.set(pointer, possible(cell, reach, (leaf) => leaf !== 'false').isPossible);
  return isWhole;
}
