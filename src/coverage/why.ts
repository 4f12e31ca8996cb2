import { type Node, childrenOf } from '../cel/ast.ts';
import type { Reference } from '../filters/fact_values.ts';
import { MODULE_FACTS } from '../filters/table.ts';
import { textOfNode } from './expression_points.ts';
import type { WatchedExpression } from './expressions.ts';
import type { CoveragePoint, Uncovered } from './point.ts';
import type { PlacedRoute } from './placed_routes.ts';
import { keys } from './exchange_hits.ts';
import type { Recording } from './recorder.ts';
import { pointersFrom } from '../diagnostics/diagnostic.ts';
import { counted } from '../diagnostics/message_text.ts';

/** The inputs for explaining an uncovered point. */
export interface WhySetting {
  readonly recording: Recording;
  /** By pointer, in order. */
  readonly routes: ReadonlyMap<string, PlacedRoute>;
  readonly expressions: ReadonlyMap<string, WatchedExpression>;
  /** The expressions inside each part of the configuration that has some, by pointer. */
  readonly inside: ReadonlyMap<string, readonly WatchedExpression[]>;
  /** Every rule of a policy, by pointer. */
  readonly rules: ReadonlyMap<string, RuleNote>;
  /** The rules of each phase that may end it, in order, by the pointer of the phase. */
  readonly enders: ReadonlyMap<string, readonly RuleNote[]>;
}

/** Indexes what the reasons need: there are as many questions as points. */
export function whySetting(
  recording: Recording,
  routes: readonly PlacedRoute[],
  rules: readonly RuleNote[],
  expressions: ReadonlyMap<string, WatchedExpression>,
): WhySetting {
  const inside = new Map<string, WatchedExpression[]>();
  for (const expression of expressions.values())
    for (const part of pointersFrom(expression.pointer).slice(1)) listIn(inside, part).push(expression);
  const enders = new Map<string, RuleNote[]>();
  for (const rule of rules) if (rule.mayEnd) listIn(enders, phaseOf(rule)).push(rule);
  return {
    recording,
    routes: byPointer(routes),
    expressions,
    inside,
    rules: byPointer(rules),
    enders,
  };
}

function byPointer<Each extends { readonly pointer: string }>(list: readonly Each[]): Map<string, Each> {
  return new Map(list.map((each) => [each.pointer, each]));
}

function listIn<Each>(lists: Map<string, Each[]>, key: string): Each[] {
  let list = lists.get(key);
  if (list === undefined) lists.set(key, (list = []));
  return list;
}

export interface RuleNote {
  readonly pointer: string;
  readonly label: string;
  readonly mayEnd: boolean;
}

function phaseOf({ pointer }: RuleNote): string {
  return pointer.slice(0, pointer.lastIndexOf('/'));
}

/** The index of a rule in its phase. */
function numberOf({ pointer }: RuleNote): number {
  return Number(pointer.slice(pointer.lastIndexOf('/') + 1));
}

/** Why no case has covered a point. */
export function whyUncovered(point: CoveragePoint, setting: WhySetting): Uncovered {
  if (point.impossible !== null) return { reason: 'cannot_happen', message: point.impossible };
  if (typeof point.untestable === 'string') return { reason: 'not_in_cases', message: point.untestable };
  if (point.kind === 'routes') return noCase(`no case reaches ${point.about ?? 'it'}`);
  return (
    routeNotTaken(point, setting) ??
    stoppedBefore(point, setting) ??
    ruleNotReached(point, setting) ??
    inExpression(point, setting) ??
    noCase('no case does it')
  );
}

function noCase(message: string): Uncovered {
  return { reason: 'no_case', message };
}

function hitsOf({ recording }: WhySetting, key: string): number {
  return recording.hits[key] ?? 0;
}

function routeNotTaken({ routes }: CoveragePoint, setting: WhySetting): Uncovered | null {
  if (routes.length === 0) return null;
  const own = routes.flatMap((pointer) => setting.routes.get(pointer) ?? []);
  if (own.length === 0 || own.some(({ id }) => hitsOf(setting, keys.route(id)) > 0)) return null;
  const names = own.map(({ route }) => route.match).join(', ');
  return { reason: 'never_reached', message: `no case takes route ${names}` };
}

/** Earlier modules in the pipeline that stopped all requests. */
function stoppedBefore({ pointer, routes, kind }: CoveragePoint, setting: WhySetting): Uncovered | null {
  const placed = routes.length === 1 ? setting.routes.get(routes[0]!) : undefined;
  if (placed === undefined) return null;
  const isOwn = pointer.startsWith(`${placed.pointer}/`);
  // Modules of the edge itself run before all others.
  if (!isOwn && pointer.startsWith('/edges/')) return null;
  const module = isOwn
    ? pointer.slice(placed.pointer.length + 1).split('/')[0]!
    : typeReferring(kind === 'backends' ? 'backend' : 'ip_policy');
  if (kind === 'paths' || hitsOf(setting, keys.module(`${placed.pointer}/${module}`)) > 0) return null;
  const stops = Array.from(MODULE_FACTS.keys()).flatMap((type) => {
    const count = hitsOf(setting, keys.stop(placed.id, type));
    return count === 0 ? [] : [`${type} stopped ${count}`];
  });
  if (stops.length === 0) return null;
  const requests = hitsOf(setting, keys.route(placed.id));
  const message = `of ${counted(requests, 'request')} to ${placed.route.match} ${stops.join(', ')} before ${module}`;
  return { reason: 'never_reached', message };
}

/** The module that refers to objects of a kind. */
function typeReferring(kind: Reference['kind']): string {
  const facts = [...MODULE_FACTS.values()];
  return facts.find(({ references = [] }) => references.some((each) => each.kind === kind))!.type;
}

/** The rule of a policy that contains a pointer. */
function ruleAt(pointer: string, { rules }: WhySetting): RuleNote | undefined {
  for (const part of pointersFrom(pointer)) {
    const rule = rules.get(part);
    if (rule !== undefined) return rule;
  }
  return undefined;
}

function ruleNotReached({ pointer, kind }: CoveragePoint, setting: WhySetting): Uncovered | null {
  const rule = ruleAt(pointer, setting);
  if (rule === undefined) return null;
  const own = expressionsBelow(`${rule.pointer}/expressions`, setting);
  const evaluated = own.map((each) => [each, countAt(each.program.typed.ast.root, each, setting)] as const);
  const isLooked = evaluated.some(([, count]) => count.all > 0);
  const isApplied = hitsOf(setting, keys.rule(rule.pointer)) > 0;
  if (!isLooked && !isApplied) {
    const order = numberOf(rule);
    const enders = (setting.enders.get(phaseOf(rule)) ?? [])
      .filter((each) => numberOf(each) < order)
      .filter((each) => hitsOf(setting, keys.rule(each.pointer)) > 0);
    if (enders.length === 0) return { reason: 'never_reached', message: 'no case reaches its phase' };
    const names = enders.map(({ label }) => label).join(', ');
    return { reason: 'never_reached', message: `rule ${names} before it decided every time` };
  }
  if (isApplied || kind === 'outcomes' || kind === 'mcdc') return null;
  const untrue = evaluated.filter(([, { yes, all }]) => all > 0 && yes === 0);
  if (untrue.length === 0) return noCase('its expressions were never all true together');
  const [watched, { all }] = untrue[0]!;
  const text = textOfNode(watched, watched.program.typed.ast.root);
  return noCase(`\`${text}\` of rule ${rule.label} was false ${times(all)}`);
}

function expressionsBelow(pointer: string, { inside }: WhySetting): readonly WatchedExpression[] {
  return inside.get(pointer) ?? [];
}

interface Counts {
  readonly yes: number;
  readonly no: number;
  readonly all: number;
}

function countAt({ id }: Node, { pointer, start }: WatchedExpression, setting: WhySetting): Counts {
  const record = setting.recording.expressions[keys.expression(pointer, start)];
  const [yes, no, failed] = [record?.yes[id] ?? 0, record?.no[id] ?? 0, record?.failed[id] ?? 0];
  return { yes, no, all: yes + no + failed };
}

function inExpression({ seen }: CoveragePoint, setting: WhySetting): Uncovered | null {
  if (seen.by !== 'node' && seen.by !== 'vectors') return null;
  const watched = setting.expressions.get(seen.expression);
  if (watched === undefined) return null;
  const { root } = watched.program.typed.ast;
  const id =
    seen.by === 'node' ? seen.node : watched.decisions[seen.decision]!.conditions[seen.condition]!.id;
  const way = wayTo(root, id) ?? [root];
  const node = way.at(-1)!;
  const counts = countAt(node, watched, setting);
  if (counts.all > 0) {
    if (seen.by === 'node') return noCase(`it was ${String(!seen.outcome)} ${times(counts.all)}`);
    if (counts.yes === 0 || counts.no === 0) return noCase(`it was ${counts.yes > 0} ${times(counts.all)}`);
    return noCase('no two evaluations differ only in it and in the outcome');
  }
  return (
    shortCircuit(way, watched, setting) ??
    expressionBefore(watched, setting) ?? { reason: 'never_reached', message: 'it was never evaluated' }
  );
}

/** The expression of the same rule that was false, so that this one was not evaluated. */
function expressionBefore(watched: WatchedExpression, setting: WhySetting): Uncovered | null {
  const rule = ruleAt(watched.pointer, setting);
  if (rule === undefined || hitsOf(setting, keys.rule(rule.pointer)) > 0) return null;
  const own = expressionsBelow(`${rule.pointer}/expressions`, setting);
  const at = own.indexOf(watched);
  const untrue = (at < 0 ? own : own.slice(0, at)).find((each) => {
    const { yes, all } = countAt(each.program.typed.ast.root, each, setting);
    return all > 0 && yes === 0;
  });
  if (untrue === undefined) return null;
  const text = textOfNode(untrue, untrue.program.typed.ast.root);
  return { reason: 'never_reached', message: `\`${text}\` of rule ${rule.label} was always false` };
}

function times(count: number): string {
  return count === 1 ? 'the only time' : `all ${count} times`;
}

/** The nodes from the root to a node, both included. */
function wayTo(node: Node, id: number): Node[] | null {
  if (node.id === id) return [node];
  for (const child of childrenOf(node)) {
    const rest = wayTo(child, id);
    if (rest !== null) return [node, ...rest];
  }
  return null;
}

/** What decided before a node could be evaluated. */
function shortCircuit(
  way: readonly Node[],
  watched: WatchedExpression,
  setting: WhySetting,
): Uncovered | null {
  for (const [index, node] of way.slice(0, -1).entries()) {
    const next = way[index + 1]!;
    if (node.kind === 'logic') {
      const deciding = node.operator === '||';
      const before = node.terms.slice(0, node.terms.indexOf(next));
      const decider = before.find((term) => {
        const { yes, no, all } = countAt(term, watched, setting);
        return all > 0 && (deciding ? no : yes) === 0;
      });
      const constant = before.find((term) => watched.constants.get(term) === deciding);
      const found = decider ?? constant;
      if (found !== undefined) {
        const message = `short-circuited by \`${textOfNode(watched, found)}\`, which was always ${deciding}`;
        return {
          reason: constant === undefined ? 'short_circuited' : 'cannot_happen',
          by: 'operand',
          message,
        };
      }
    }
    if (node.kind === 'conditional' && next !== node.condition) {
      const { yes, no, all } = countAt(node.condition, watched, setting);
      const isYes = next === node.yes;
      if (all > 0 && (isYes ? yes : no) === 0)
        return {
          reason: 'short_circuited',
          by: 'condition',
          message: `\`${textOfNode(watched, node.condition)}\` was always ${!isYes}`,
        };
    }
  }
  return null;
}
