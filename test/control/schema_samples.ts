/** Part of JSON Schema, as the description of the API has it. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly 'x-form'?: string;
}

/** Chance in [0, 1), and ids of existing objects. */
export interface Sources {
  readonly random: () => number;
  readonly someId: () => string;
}

export function pick<Value>(values: readonly Value[], random: () => number): Value {
  return values[Math.floor(random() * values.length)]!;
}

const TEXTS = ['', 'a', 'shop', 'shop.test', 'localhost:3000', 'https://a.test/x', '192.0.2.0/24', '/path'];

/** A value that a schema describes; of optional members it has about half. */
export function sampleOf(schema: Schema, sources: Sources, name = ''): unknown {
  const { random, someId } = sources;
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return pick(schema.enum, random);
  if (schema.anyOf !== undefined) return sampleOf(pick(schema.anyOf, random), sources, name);
  if (schema.default !== undefined && random() < 0.3) return schema.default;
  const type = Array.isArray(schema.type) ? pick(schema.type as string[], random) : schema.type;
  switch (type as string) {
    case 'string':
      if (/_ids?$/.test(name)) return someId();
      return /'(.+)'/.exec(schema['x-form'] ?? '')?.[1] ?? pick(TEXTS, random);
    case 'integer':
    case 'number': {
      const { minimum = 0, maximum = 1000 } = schema;
      return pick([minimum, Math.min(maximum, minimum + 7), maximum], random);
    }
    case 'boolean':
      return random() < 0.5;
    case 'null':
      return null;
    case 'array':
      return Array.from({ length: Math.floor(random() * 3) }, () =>
        sampleOf(schema.items ?? {}, sources, name),
      );
    case 'object':
      return objectOf(schema, sources);
    default:
      return {};
  }
}

function objectOf(schema: Schema, sources: Sources): Record<string, unknown> {
  const { properties = {}, required = [], additionalProperties } = schema;
  const members = Object.entries(properties)
    .filter(([name]) => required.includes(name) || sources.random() < 0.5)
    .map(([name, own]) => [name, sampleOf(own, sources, name)] as const);
  const free =
    typeof additionalProperties === 'object' && sources.random() < 0.5
      ? [['x-key', sampleOf(additionalProperties, sources)] as const]
      : [];
  return Object.fromEntries([...members, ...free]);
}
