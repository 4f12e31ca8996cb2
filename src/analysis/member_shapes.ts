import { LEGACY_PHASES } from '../filters/phase.ts';
import { LEGACY_TYPES } from '../filters/table.ts';
import { EDGE_SHAPE } from '../edge/document/report.ts';
import { POLICY_SHAPE, type Shape, resolved } from '../policy/document/shape.ts';

/** The shapes of the parts of a configuration, from the schemas of edge files and policies. */

/** The shape of an edge file. */
export const OF_EDGES = EDGE_SHAPE as Shape;
/** The shape of a policy, whose phases may have former names. */
export const OF_POLICIES: Shape = { ...POLICY_SHAPE, aliases: LEGACY_PHASES };

/** The shape of a member of a map, which may have a former name; without keywords if no schema knows it. */
export function memberShape({ properties = {}, additionalProperties, ...shape }: Shape, name: string): Shape {
  const names = { ...shape.aliases, ...shape.synonyms };
  const own = Object.hasOwn(names, name) ? names[name]! : name;
  if (Object.hasOwn(properties, own)) return resolved(properties[own]!);
  return typeof additionalProperties === 'object' ? resolved(additionalProperties) : {};
}

/** The shape of an item of a list; that of an action is selected by its type. */
export function itemShape({ items = {} }: Shape, item: unknown): Shape {
  const { anyOf = [], ...shape } = resolved(items);
  if (anyOf.length === 0) return shape;
  const type = String((item as { readonly type?: unknown } | null)?.type);
  const current = LEGACY_TYPES.get(type) ?? type;
  return anyOf.map(resolved).find(({ properties }) => properties?.['type']?.const === current) ?? shape;
}
