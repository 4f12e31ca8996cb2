import edgeFile from '../../edge/document/edge_file.schema.json' with { type: 'json' };
import policy from '../../policy/document/policy.schema.json' with { type: 'json' };
import { trafficPolicy } from '../../policy/facts.ts';

/** The part of JSON Schema that the generated schemas use. */
export interface SchemaNode {
  readonly description?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  /** What a string is: `expression`, `duration`, `pattern` … */
  readonly kind?: string;
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly additionalProperties?: SchemaNode | boolean;
  readonly items?: SchemaNode;
  readonly anyOf?: readonly SchemaNode[];
  readonly $ref?: string;
}

const EDGE = edgeFile as unknown as SchemaNode;
const POLICY = policy as unknown as SchemaNode & {
  readonly definitions: Readonly<Record<string, SchemaNode>>;
};

/** Whether a text, which may be incomplete, has a key of the root at its left edge. */
export function hasKeysOf(root: 'edge' | 'policy', text: string): boolean {
  const { properties = {} } = root === 'edge' ? EDGE : POLICY;
  return Object.keys(properties).some((key) => new RegExp(`^${key}\\s*:`, 'm').test(text));
}

/** What is allowed at a path of an edge file or a policy; `typeOf` names the type of an element of a list, if it is written. */
export function schemasAt(
  root: 'edge' | 'policy',
  path: readonly string[],
  typeOf: () => string | null,
): readonly SchemaNode[] {
  let nodes = resolved(root === 'edge' ? EDGE : POLICY);
  for (const [index, key] of path.entries()) {
    const isTyped = key === 'config' && path[index - 1] === '*';
    nodes = (isTyped ? ofType(nodes, typeOf()) : nodes).flatMap((node) => below(node, key));
    // The file has a policy as the checker of policies reads it.
    if (key === trafficPolicy.module.type) nodes = [...nodes, POLICY];
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
  const { $ref: reference, anyOf } = node;
  if (reference !== undefined)
    return resolved(POLICY.definitions[reference.replace('#/definitions/', '')] ?? {});
  return anyOf === undefined ? [node] : [node, ...anyOf.flatMap(resolved)];
}
