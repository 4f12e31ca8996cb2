import { whenEnds } from '../filters/facts.ts';
import { isGuard } from '../filters/gates.ts';
import { ACTION_FACTS } from '../filters/table.ts';
import type { Cell } from './cells.ts';
import { type Diagram, whyTooLarge, type Truth } from './diagram.ts';
import { type ExaminedPolicy, takersOf } from './expression_findings.ts';
import { type Examined, type Found, possible } from './finding.ts';
import type { Model } from './model.ts';
import type { Outcome } from './outcome.ts';
import { Solver } from './relations.ts';
import { cellDiagram } from './routed.ts';

/** Which parts requests reach, by their pointers, as far as it is known. */
interface Reaching {
  readonly alive: Map<string, boolean>;
  /** Rules: whether a request fulfils them without another spelling of its path. */
  readonly written: Map<string, boolean>;
  /** Rules: whether one of these requests is left by the rules before it. */
  readonly left: Map<string, boolean>;
  /** Rules: whether their expressions fail for a request, which stops it. */
  readonly failed: Map<string, boolean>;
  /** Why not everything is known of a route. */
  readonly unknown: Map<string, string>;
  /** Routes with a backend: whether a request may reach it. */
  readonly forwarded: Map<string, boolean>;
}

/** Routes, rules and actions that no request reaches, and rules that it reaches in other spellings only. */
export function unreached(examined: Examined, policies: readonly ExaminedPolicy[]): readonly Found[] {
  const { model, cells } = examined;
  const { alive, written, left, failed, unknown, forwarded } = reachingOf(examined);
  const unknownRoutes = [...unknown.keys()];
  const isKnown = (pointer: string): boolean =>
    !unknownRoutes.some((route) => pointer.startsWith(`${route}/`));
  const dead = Array.from(alive).flatMap(([pointer, isAlive]): Found[] => {
    if (isAlive || !isKnown(pointer)) return [];
    const isAction = /\/actions\/\d+$/.test(pointer);
    if (!isAction) {
      const policy = policies.find(({ place }) => pointer.startsWith(`${place.pointer}/`));
      const causes = policy === undefined ? [] : takersOf(policy, pointer);
      return [{ code: 'analysis.dead_rule', pointer, causes, isRemovable: failed.get(pointer) !== true }];
    }
    // The actions of a dead rule are dead with it.
    return alive.get(pointer.replace(/\/actions\/\d+$/, '')) === true
      ? [{ code: 'analysis.dead_action', pointer, isRemovable: true }]
      : [];
  });
  const respelled = Array.from(left).flatMap(([pointer, isLeft]): Found[] => {
    if (isLeft || alive.get(pointer) !== true || !isKnown(pointer)) return [];
    if (written.get(pointer) !== true) return [{ code: 'analysis.dead_path', pointer }];
    const policy = policies.find(({ place }) => pointer.startsWith(`${place.pointer}/`));
    const causes = policy === undefined ? [] : takersOf(policy, pointer);
    // Some name both spellings of a path that an earlier guard covers by itself.
    if (causes.length === 0 || causes.some((each) => guards(policy!, each))) return [];
    return [{ code: 'analysis.dead_path', pointer, causes }];
  });
  const blocked = Array.from(forwarded).flatMap(([pointer, isForwarded]): Found[] =>
    isForwarded || unknown.has(pointer) || isClosedOnPurpose(examined, policies, pointer)
      ? []
      : [{ code: 'analysis.blocked_route', pointer }],
  );
  const edges = Object.keys(model.config.edges.https);
  const routes = model.compiled.https
    .filter(({ name }) => edges.includes(name))
    .flatMap(({ pipelines }) => pipelines)
    .filter(({ pointer }) => !cells.has(pointer))
    .map(({ pointer }): Found => ({ code: 'analysis.dead_route', pointer }));
  const tooLarge = Array.from(unknown, ([pointer, detail]): Found => ({
    code: 'analysis.too_large',
    pointer,
    detail,
  }));
  return [...routes, ...dead, ...respelled, ...blocked, ...tooLarge];
}

function guards({ document }: ExaminedPolicy, pointer: string): boolean {
  const rule = Object.values(document.phases)
    .flat()
    .find((each) => each.pointer === pointer);
  return rule?.actions.some(({ type, config }) => isGuard(ACTION_FACTS.get(type)!, config)) === true;
}

/** Whether a route has no backend, or one rule without conditions stops all, such as during maintenance. */
function isClosedOnPurpose(
  { cells }: Examined,
  policies: readonly ExaminedPolicy[],
  pointer: string,
): boolean {
  const routed = cells.get(pointer)?.[0]?.routed[0];
  if (typeof routed !== 'object' || routed.route.backend === undefined) return true;
  const policy = policies.find(({ place }) => place.pointer.startsWith(`${pointer}/`));
  const rules = policy?.document.phases.on_http_request ?? [];
  return rules.some(
    ({ expressions, actions }) =>
      expressions.every(({ text }) => text.trim() === 'true') &&
      actions.some(({ type, config }) => {
        const facts = ACTION_FACTS.get(type)!;
        return whenEnds(facts, config) !== 'never' && facts.addressLists === undefined;
      }),
  );
}

/** Whether requests reach a backend, or may: of the paths of a login not everything is known. */
function reachesBackend({ by, effects }: Outcome): boolean {
  return by === 'login' || effects.some(({ backends }) => backends.length > 0);
}

function reachingOf(examined: Examined): Reaching {
  const reaching: Reaching = {
    alive: new Map(),
    written: new Map(),
    left: new Map(),
    failed: new Map(),
    unknown: new Map(),
    forwarded: new Map(),
  };
  for (const [route, own] of examined.cells)
    for (const cell of own) {
      const reason = addReached(reaching, examined.model, cell, route);
      if (reason !== null) reaching.unknown.set(route, reason);
    }
  return reaching;
}

/** Adds what the requests of a cell reach; returns why not all of it is known, or null. */
function addReached(
  { alive, written, left, failed, forwarded }: Reaching,
  model: Model,
  cell: Cell,
  route: string,
): string | null {
  const reaches: (readonly [Map<string, boolean>, pointer: string, reach: Diagram<Truth>])[] = [];
  const solver = new Solver(cell.within);
  let reason: string | null = null;
  try {
    const outcome = cellDiagram(model, cell, 0, 'own', (pointer, reach, more) => {
      reaches.push([alive, pointer, reach]);
      if (more === undefined) return;
      reaches.push(
        [written, pointer, more.written],
        [left, pointer, more.left],
        [failed, pointer, more.failed],
      );
    });
    if (forwarded.get(route) !== true)
      forwarded.set(route, possible(cell, outcome, reachesBackend, solver).isPossible);
  } catch (error) {
    reason = whyTooLarge(error);
  }
  for (const [known, pointer, reach] of reaches)
    if (known.get(pointer) !== true)
      known.set(pointer, possible(cell, reach, (leaf) => leaf !== 'false', solver).isPossible);
  return reason;
}
