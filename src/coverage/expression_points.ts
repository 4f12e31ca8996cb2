import { type Node, walkNodes } from '../cel/ast.ts';
import { pointersFrom } from '../diagnostics/diagnostic.ts';
import type { CoveragePoint } from './point.ts';
import type { PlacedRoute } from './placed_routes.ts';
import { CONDITION_LIMIT } from './vectors.ts';
import type { WatchedExpression } from './expressions.ts';

/** Both outcomes of every boolean node of every expression, and MC/DC of every decision. */
export function expressionPoints(
  expressions: ReadonlyMap<string, WatchedExpression>,
  routes: readonly PlacedRoute[],
  limits: ExpressionLimits,
): CoveragePoint[] {
  const own = new Set(routes.map(({ pointer }) => pointer));
  return Array.from(expressions, ([key, watched]) => {
    const place = placeIn(
      watched,
      pointersFrom(watched.pointer).filter((pointer) => own.has(pointer)),
    );
    const never = limits.unreached.get(watched.pointer) ?? null;
    const untrue = limits.untrue.get(watched.pointer) ?? null;
    const points = [...nodePoints(key, watched, place), ...conditionPoints(key, watched, place)];
    return points.map((point) => {
      const isRoot = point.seen.by !== 'node' || point.seen.node === watched.program.typed.ast.root.id;
      const isTrue = point.seen.by !== 'node' || point.seen.outcome;
      const impossible = point.impossible ?? never ?? (isRoot && isTrue ? untrue : null);
      return Object.assign({}, point, { impossible });
    });
  }).flat();
}

/** Known limits of rule expressions, by pointer: why one is never true, or never evaluated. */
export interface ExpressionLimits {
  readonly untrue: ReadonlyMap<string, string>;
  readonly unreached: ReadonlyMap<string, string>;
}

type Place = (node: Node) => Pick<CoveragePoint, 'pointer' | 'span' | 'routes'>;

function placeIn({ pointer, start }: WatchedExpression, routes: readonly string[]): Place {
  return ({ span }) => ({
    pointer,
    span: { start: span.start + start, end: span.end + start },
    routes,
  });
}

/** The source text of a node, shortened. */
export function textOfNode({ program }: WatchedExpression, { span }: Node): string {
  const text = program.source.slice(span.start, span.end).replaceAll(/\s+/g, ' ');
  return text.length > SHOWN_UNITS ? `${text.slice(0, SHOWN_UNITS)}…` : text;
}

const SHOWN_UNITS = 80;

function nodePoints(key: string, watched: WatchedExpression, place: Place): CoveragePoint[] {
  const constant = Array.from(watched.constants).filter(([node]) => node.kind !== 'literal');
  return [
    ...watched.nodes.flatMap((node) => [true, false].map((outcome) => point(node, outcome, null))),
    ...constant.map(([node, value]) => point(node, !value, `it is always ${value}`)),
    ...literalRoot(watched).map(([node, value]) => point(node, !value, `it is always ${value}`)),
  ];

  function point(node: Node, outcome: boolean, impossible: string | null): CoveragePoint {
    return {
      id: `outcomes ${key} ${node.id} ${outcome}`,
      kind: 'outcomes',
      ...place(node),
      message: `\`${textOfNode(watched, node)}\` is ${outcome}`,
      impossible: impossible ?? contradiction(watched, node, outcome) ?? contradicted(watched, node, outcome),
      seen: { by: 'node', expression: key, node: node.id, outcome },
    };
  }
}

/** An expression that is only `true` or `false`. */
function literalRoot({ program, constants }: WatchedExpression): [Node, boolean][] {
  const { root } = program.typed.ast;
  const value = constants.get(root);
  return root.kind === 'literal' && value !== undefined ? [[root, value]] : [];
}

/** A conjunction that requires a variable to have two different values is never true. */
function contradiction({ program }: WatchedExpression, node: Node, outcome: boolean): string | null {
  if (!outcome || node.kind !== 'logic' || node.operator !== '&&') return null;
  const wanted = new Map<string, { readonly node: Node; readonly value: unknown }>();
  for (const term of node.terms) {
    const equality = equalityOf(program, term);
    if (equality === null) continue;
    const { name, value } = equality;
    const before = wanted.get(name);
    if (before !== undefined && isOther(before.value, value)) {
      const [one, other] = [before.node, term].map(({ span }) => program.source.slice(span.start, span.end));
      return `\`${one}\` and \`${other}\` contradict each other`;
    }
    wanted.set(name, { node: term, value });
  }
  return null;
}

/** A term of a conjunction that is evaluated only if another term has excluded it is never true. */
function contradicted({ program }: WatchedExpression, node: Node, outcome: boolean): string | null {
  if (!outcome) return null;
  const own = equalityOf(program, node);
  if (own === null) return null;
  let message: string | null = null;
  walkNodes(program.typed.ast.root, (around) => {
    if (around.kind !== 'logic' || around.operator !== '&&') return;
    for (const term of around.terms.slice(0, Math.max(0, around.terms.indexOf(node)))) {
      const before = equalityOf(program, term);
      if (before?.name === own.name && isOther(before.value, own.value))
        message = `\`${program.source.slice(term.span.start, term.span.end)}\` before it is true whenever it is evaluated`;
    }
  });
  return message;
}

/** Whether two constants certainly differ; numbers of different types, which are objects, may be equal. */
function isOther(one: unknown, other: unknown): boolean {
  return typeof one === typeof other && typeof one !== 'object' && one !== other;
}

/** The required value of a variable; null for any other node. */
function equalityOf({ typed }: WatchedExpression['program'], node: Node) {
  if (node.kind !== 'binary' || node.operator !== '==' || node.right.kind !== 'literal') return null;
  const meaning = typed.meanings[node.left.id];
  return meaning?.means === 'variable' ? { name: meaning.variable.name, value: node.right.value } : null;
}

function conditionPoints(key: string, watched: WatchedExpression, place: Place): CoveragePoint[] {
  return watched.decisions.flatMap(({ root, conditions }, decision) => {
    if (conditions.length > CONDITION_LIMIT) return [];
    return conditions.map((node, condition): CoveragePoint => {
      const isAlone = conditions.length === 1;
      const fixed = watched.constants.get(node) ?? null;
      const around = isAlone ? '' : ` of \`${textOfNode(watched, root)}\``;
      return {
        id: `mcdc ${key} ${decision} ${condition}`,
        kind: 'mcdc',
        ...place(node),
        message: `\`${textOfNode(watched, node)}\` alone changes the outcome${around}`,
        impossible: fixed === null ? constantAround(watched, root) : `it is always ${fixed}`,
        seen: { by: 'vectors', expression: key, decision, condition, count: conditions.length },
      };
    });
  });
}

/** A decision whose outcome is fixed by one of its parts, so that no condition can change it. */
function constantAround(watched: WatchedExpression, root: Node): string | null {
  if (root.kind !== 'logic') return null;
  const deciding = root.operator === '||';
  const decider = root.terms.find((term) => watched.constants.get(term) === deciding);
  if (decider !== undefined) return `\`${textOfNode(watched, decider)}\` is always ${deciding}`;
  let clash: string | null = null;
  walkNodes(root, (node) => {
    clash ??= contradiction(watched, node, true);
  });
  return clash;
}
