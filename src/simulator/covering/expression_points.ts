import { walkNodes } from '../../expression/ast.ts';
import type { Node } from '../../expression/ast.ts';
import type { CoveragePoint } from './point.ts';
import type { PlacedRoute } from './points.ts';
import { CONDITION_LIMIT } from './vectors.ts';
import type { WatchedExpression } from './expressions.ts';

/** Both outcomes of every boolean node of every expression, and MC/DC of every decision. */
export function expressionPoints(
  expressions: ReadonlyMap<string, WatchedExpression>,
  routes: readonly PlacedRoute[],
): CoveragePoint[] {
  return Array.from(expressions, ([key, watched]) => {
    const on = routes.filter(({ pointer }) => watched.pointer.startsWith(`${pointer}/`));
    const place = placeIn(
      watched,
      on.map(({ pointer }) => pointer),
    );
    return [...nodePoints(key, watched, place), ...conditionPoints(key, watched, place)];
  }).flat();
}

type Place = (node: Node) => Pick<CoveragePoint, 'pointer' | 'span' | 'routes'>;

function placeIn({ pointer, start }: WatchedExpression, routes: readonly string[]): Place {
  return ({ span }) => ({
    pointer,
    span: { start: span.start + start, end: span.end + start },
    routes,
  });
}

/** A node as it is written, shortened. */
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
      says: `\`${textOfNode(watched, node)}\` is ${outcome}`,
      impossible: impossible ?? contradiction(watched, node, outcome),
      seen: { by: 'node', expression: key, node: node.id, outcome },
    };
  }
}

/** An expression that is nothing but `true` or `false`. */
function literalRoot({ program, constants }: WatchedExpression): [Node, boolean][] {
  const { root } = program.typed.ast;
  const value = constants.get(root);
  return root.kind === 'literal' && value !== undefined ? [[root, value]] : [];
}

/** A conjunction that asks one variable to be two things at once is never true. */
function contradiction({ program }: WatchedExpression, node: Node, outcome: boolean): string | null {
  if (!outcome || node.kind !== 'logic' || node.operator !== '&&') return null;
  const wanted = new Map<string, { readonly node: Node; readonly value: unknown }>();
  for (const term of node.terms) {
    if (term.kind !== 'binary' || term.operator !== '==' || term.right.kind !== 'literal') continue;
    const meaning = program.typed.meanings[term.left.id];
    if (meaning?.means !== 'variable') continue;
    const { name } = meaning.variable;
    const before = wanted.get(name);
    if (before !== undefined && before.value !== term.right.value) {
      const [one, other] = [before.node, term].map(({ span }) => program.source.slice(span.start, span.end));
      return `\`${one}\` and \`${other}\` contradict each other`;
    }
    wanted.set(name, { node: term, value: term.right.value });
  }
  return null;
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
        says: `\`${textOfNode(watched, node)}\` alone changes the outcome${around}`,
        impossible: fixed === null ? constantAround(watched, root) : `it is always ${fixed}`,
        seen: { by: 'vectors', expression: key, decision, condition, count: conditions.length },
      };
    });
  });
}

/** A decision whose outcome is fixed by a part of it, so that no condition can change it. */
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
