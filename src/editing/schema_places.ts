import type { Shape } from '../config_file/shape.ts';
import edgeFile from '../edge/document/edge_file.schema.json' with { type: 'json' };
import { trafficPolicy } from '../policy/facts.ts';
import type { FieldScope } from '../filters/action_fields_schema.ts';
import policy from '../policy/document/policy.schema.json' with { type: 'json' };
import { propertiesShape, propertyFileShape } from '../project_files/property_file.ts';
import scenario from '../simulator/document/scenario.schema.json' with { type: 'json' };

/** The part of JSON Schema that the generated schemas use. */
export interface SchemaNode {
  readonly description?: string;
  readonly type?: string | readonly string[];
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  /** What a string is: `expression`, `duration`, `pattern` … */
  readonly kind?: string;
  /** Whose variables an expression has, if not those of its phase; of a strategy they are not known. */
  readonly scope?: FieldScope | 'strategy';
  /** The form of a text in words. */
  readonly form?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxLength?: number;
  readonly maxBytes?: number;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly additionalProperties?: SchemaNode | boolean;
  readonly propertyNames?: SchemaNode;
  readonly pattern?: string;
  readonly items?: SchemaNode;
  readonly anyOf?: readonly SchemaNode[];
  readonly allOf?: readonly SchemaNode[];
  readonly $ref?: string;
}

type Definitions = Readonly<Record<string, SchemaNode>>;

/** The kinds of files that have a schema. */
export const ROOTS = ['edge', 'policy', 'scenario', 'property'] as const;
export type Root = (typeof ROOTS)[number];

const POLICY = policy as unknown as SchemaNode & { readonly definitions: Definitions };
const SCENARIO = scenario as unknown as SchemaNode & { readonly definitions: Definitions };
const EDGE = ((): SchemaNode => {
  const { properties = {}, ...edge } = edgeFile as unknown as SchemaNode;
  const withUse = propertiesShape(edgeFile as Shape) as SchemaNode;
  return { ...edge, properties: { ...properties, properties: withUse } };
})();
const SCHEMAS: Readonly<Record<Root, SchemaNode>> = {
  edge: EDGE,
  policy: POLICY,
  scenario: SCENARIO,
  property: propertyFileShape(edgeFile as Shape),
};
/** Names of both are distinct. */
const DEFINITIONS: Definitions = { ...SCENARIO.definitions, ...POLICY.definitions };

/** The keys at the top of a kind of file. */
export function keysOfRoot(root: Root): readonly string[] {
  return Object.keys(SCHEMAS[root].properties ?? {});
}

/** What is allowed at a path of a file; `typeOf` names the type of an element of a list, if it is written. */
export function schemasAt(
  root: Root,
  path: readonly string[],
  typeOf: () => string | null,
): readonly SchemaNode[] {
  let nodes = resolved(SCHEMAS[root]);
  for (const [index, key] of path.entries()) {
    const isTyped = key === 'config' && path[index - 1] === '*';
    nodes = (isTyped ? ofType(nodes, typeOf()) : nodes).flatMap((node) => below(node, key));
    // The file has a policy as the checker of policies reads it.
    if (key === trafficPolicy.module.type) nodes = [...nodes, POLICY];
    // Scenarios may have the whole of what they test.
    if (root === 'scenario' && index === 0 && (key === 'edge' || key === 'policy'))
      nodes = [...nodes, SCHEMAS[key]];
    nodes = nodes.flatMap(resolved);
  }
  return nodes;
}

function ofType(nodes: readonly SchemaNode[], type: string | null): readonly SchemaNode[] {
  const own = nodes.filter(({ properties }) => properties?.['type']?.const === type);
  return type === null || own.length === 0 ? nodes : own;
}

function below({ items, properties, additionalProperties }: SchemaNode, key: string): readonly SchemaNode[] {
  if (key === '*' && items !== undefined) return [items];
  const own = properties !== undefined && Object.hasOwn(properties, key) ? properties[key] : undefined;
  if (own !== undefined) return [own];
  return typeof additionalProperties === 'object' ? [additionalProperties] : [];
}

function resolved(node: SchemaNode): readonly SchemaNode[] {
  const { $ref: reference, anyOf = [], allOf = [] } = node;
  if (reference !== undefined) return resolved(DEFINITIONS[reference.replace('#/definitions/', '')] ?? {});
  const others = [...anyOf, ...allOf];
  return others.length === 0 ? [node] : [node, ...others.flatMap(resolved)];
}
