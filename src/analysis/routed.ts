import { weakMemoize } from '../caches/weak_memoize.ts';
import type { HttpsEdgeConfig } from '../edge/document/schema.ts';
import { looseText } from '../http/readings.ts';
import { readMatch } from '../edge/router.ts';
import { ACTION_FACTS, MODULE_FACTS } from '../filters/table.ts';
import type { Cell, RouteOf } from './cells.ts';
import type { Diagram } from './diagram.ts';
import { type Model, canonical, modulesOf, PLAIN_PATHS, pathPrefix } from './model.ts';
import { type Outcome, SOME_LOGIN, outcomeKey } from './outcome.ts';
import type { Reached } from './policy_program.ts';
import { routeDiagram } from './route_program.ts';
import { FORWARDING } from './rule_conditions.ts';

/**
 * What a configuration does with the requests of a cell. Whether a path of several readings is refused depends on all
 * routes of the edge; `ambiguity` names the rule, so that configurations with equal routes share it.
 */
export function cellDiagram(
  model: Model,
  { routed, edges, host }: Cell,
  at: number,
  ambiguity: string,
  reached?: Reached,
): Diagram<Outcome> {
  const { diagrams, atoms } = model.analysis;
  const here = routed[at]!;
  const edgeName = edges[at] ?? null;
  if (here === 'unknown_host' || edgeName === null) return refusal(model, 'route.unknown_host');
  const found =
    here === 'no_match' ? refusal(model, 'route.no_match') : routeDiagram({ ...here, model }, reached);
  const compiled = model.compiled.https.find(({ name }) => name === edgeName)!;
  const isAmbiguous = diagrams.atom(
    atoms.opaque(`ambiguous ${ambiguity}`, 'whether a spelling of the path belongs to another route'),
  );
  const ambiguous = diagrams.choose(isAmbiguous, refusal(model, 'route.ambiguous_path'), found, found);
  const isPlain = diagrams.atom(atoms.text('path', PLAIN_PATHS, 'the path can only be read in one way'));
  const routedBySpelling = areFolded(model.config.edges.https[edgeName]!)
    ? diagrams.choose(isPlain, found, ambiguous, found)
    : ambiguous;
  // Requests to the paths of a login gate belong to the gate, whatever route matches them.
  const { analysis } = model;
  const reserved = compiled.reserved.filter((each) => each.host === null || each.host === host);
  return reserved.reduce((rest, { base }) => {
    const outcome: Outcome = {
      end: 'refused',
      by: 'login',
      detail: analysis.nameOf(
        `${model.surroundings('cookie', '')} ${canonical(model.config.edges.https[edgeName])}`,
      ),
      effects: [SOME_LOGIN],
    };
    const own = diagrams.leaf(outcome, outcomeKey(outcome));
    return diagrams.choose(diagrams.atom(pathPrefix(model, base)), own, rest, rest);
  }, routedBySpelling);
}

function refusal(model: Model, by: string): Diagram<Outcome> {
  const outcome: Outcome = { end: 'refused', by, detail: model.naming, effects: [] };
  return model.analysis.diagrams.leaf(outcome, outcomeKey(outcome));
}

/**
 * Whether all paths of an edge are their own reading, so that plain paths are never ambiguous. There are as many questions
 * as routes.
 */
const areFolded = weakMemoize(({ routes }: HttpsEdgeConfig): boolean =>
  routes.every(({ match }) => {
    const { path } = readMatch(match);
    return path === looseText(path);
  }),
);

/** Whether two routes certainly do the same, because nothing about them differs; false proves nothing. */
export function areAlike(one: RouteOf, oneModel: Model, other: RouteOf, otherModel: Model): boolean {
  if (oneModel.circumstances !== otherModel.circumstances) return false;
  const [here, there] = [modulesAt(one), modulesAt(other)];
  if (canonical(here) !== canonical(there)) return false;
  const policies = here.filter(({ type }) => MODULE_FACTS.get(type)!.runsActions === true);
  const text = canonical(policies);
  const counts = here.some(({ type }) => MODULE_FACTS.get(type)!.remembersMs !== undefined);
  if (counts || COUNTING.some((type) => text.includes(type))) {
    const [own, others] = [
      oneModel.routeName(one.pipeline.pointer),
      otherModel.routeName(other.pipeline.pointer),
    ];
    if (own !== others) return false;
  }
  if (/\bendpoint\b/.test(text) && one.pipeline.pointer !== other.pipeline.pointer) return false;
  return (
    !FORWARDING.some((type) => text.includes(type)) ||
    canonical(oneModel.config) === canonical(otherModel.config)
  );
}

/** Actions that count requests. */
const COUNTING = Array.from(ACTION_FACTS.values()).flatMap(({ type, remembersMs }) =>
  remembersMs === undefined ? [] : [type],
);

function modulesAt({ edge, route }: RouteOf) {
  return modulesOf(edge, route);
}
