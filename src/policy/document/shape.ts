import type { Shape as DocumentShape } from '../../config_file/shape.ts';
import generated from './policy.schema.json' with { type: 'json' };
import type { FieldFacts, Fault, Kind } from '../../filters/action_fields_schema.ts';

/** The shape of a value of a policy: JSON Schema, and the facts that our schemas add. */
export interface Shape extends DocumentShape, Partial<FieldFacts> {
  readonly description?: string;
  readonly kind?: Kind;
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly additionalProperties?: false | Shape;
  readonly items?: Shape;
  readonly anyOf?: readonly Shape[];
  readonly $ref?: string;
  readonly const?: unknown;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly choices?: readonly number[];
  readonly least?: string;
  readonly most?: string;
  readonly step?: string;
}

const definitions = generated.definitions as unknown as Readonly<Record<string, Shape>>;

/** The shape of a whole policy. */
export const POLICY_SHAPE = generated as unknown as Shape;

/** The shape that another one refers to; itself if it refers to none. */
export function resolved(shape: Shape): Shape {
  const { $ref: reference } = shape;
  return reference === undefined ? shape : definitions[reference.slice('#/definitions/'.length)]!;
}

/** The shape of the config of an action type. */
export function configShape(type: string): Shape {
  return definitions[type]!.properties!['config']!;
}

/** Whether there is an action of this type. */
export function isActionType(type: string): boolean {
  return Object.hasOwn(definitions, type) && definitions[type]!.properties?.['config'] !== undefined;
}

/** The default error number of each fault. */
const NUMBERS: Readonly<Record<Fault, number>> = {
  type: 2203,
  choice: 2222,
  missing: 2234,
  empty: 2223,
  range: 2215,
  too_long: 2221,
  too_short: 2237,
  too_many: 2218,
  duplicate: 2231,
  form: 2204,
};

/** The error number of a fault of a field. */
export function numberOf(fault: Fault, shape: Shape): number {
  return shape.codes?.[fault] ?? NUMBERS[fault];
}
