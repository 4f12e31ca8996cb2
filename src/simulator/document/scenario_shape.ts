import type { Shape } from '../../config_file/shape.ts';
import type { ScenarioShell } from './schema.ts';
import generated from './scenario.schema.json' with { type: 'json' };

/** Generated JSON Schema: repeated parts are referenced by name. */
interface Written extends Omit<Shape, 'type'> {
  readonly type?: Shape['type'] | readonly NonNullable<Shape['type']>[];
  readonly $ref?: string;
  readonly allOf?: readonly Written[];
  readonly definitions?: Readonly<Record<string, Written>>;
}

const SCHEMA = generated as unknown as Written;
const known = new Map<string, Shape>();

/** The part with a name. Definitions are not recursive. */
function named(reference: string): Shape {
  const name = reference.slice(reference.lastIndexOf('/') + 1);
  let shape = known.get(name);
  if (shape === undefined) known.set(name, (shape = resolved(SCHEMA.definitions![name]!)));
  return shape;
}

function resolved(shape: Written): Shape {
  if (shape.$ref !== undefined) return named(shape.$ref);
  if (shape.allOf !== undefined) return { ...resolved(shape.allOf[0]!), ...descriptionOf(shape) };
  const { type, ...rest } = shape;
  if (Array.isArray(type))
    return { ...rest, anyOf: type.map((each: Shape['type']) => ({ type: each })) } as Shape;
  const { properties, additionalProperties, items, anyOf } = shape;
  return {
    ...(shape as Shape),
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([key, each]) => [key, resolved(each)])),
    }),
    ...(additionalProperties && { additionalProperties: resolved(additionalProperties) }),
    ...(items && { items: resolved(items) }),
    ...(anyOf && { anyOf: anyOf.map((each) => resolved(each)) }),
  };
}

function descriptionOf({ description }: { readonly description?: string | undefined }): {
  description?: string;
} {
  return description === undefined ? {} : { description };
}

const WHOLE = resolved(SCHEMA);
const { each: EACH, ...CASE } = WHOLE.properties!['cases']!.items!.properties!;

/** A scenario file without its cases. */
export const SHELL_SHAPE: Shape = {
  ...WHOLE,
  properties: { ...WHOLE.properties, cases: { type: 'array', minItems: 1 } },
};
/** One case, after filling in the values of a row. */
export const CASE_SHAPE: Shape = { ...WHOLE.properties!['cases']!.items!, properties: { ...CASE, each: {} } };
export const EACH_SHAPE: Shape = EACH!;
/** An expectation that is a map. */
export const EXPECTATION_SHAPE: Shape = named('expectation');

const SHARED = [
  'version',
  'include',
  'defaults',
  'variables',
  'clock',
  'seed',
  'upstreams',
  'agents',
  'identities',
  'secrets',
  'facts',
  'client_certificate',
] satisfies readonly (keyof ScenarioShell)[];

/** A file that scenario files include. */
export const SHARED_SHAPE: Shape = {
  ...WHOLE,
  properties: Object.fromEntries(SHARED.map((key) => [key, WHOLE.properties![key]!])),
};
/** One response of a sequence. */
export const ANSWER_SHAPE: Shape = named('#/definitions/answer');
