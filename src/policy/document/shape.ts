import type { JsonShape } from '../../document/shape.ts';
import generated from './policy.schema.json' with { type: 'json' };
import type { FieldFacts, Fault } from '../actions/schema.ts';

/** What the checker understands of JSON Schema (draft 7), and the facts that our schemas add to it. */
export interface Shape extends JsonShape<Shape>, Partial<FieldFacts> {
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly choices?: readonly number[];
  readonly maxLength?: number;
  readonly least?: string;
  readonly most?: string;
  readonly step?: string;
}

interface ActionShape {
  readonly properties: { readonly config?: Shape };
  readonly required: readonly string[];
}

const definitions = generated.definitions as unknown as Readonly<Record<string, ActionShape>>;

/** The shape of the config of an action type. */
export function configShape(type: string): Shape {
  return definitions[type]!.properties.config!;
}

/** Whether there is an action of this type. */
export function isActionType(type: string): boolean {
  return Object.hasOwn(definitions, type) && definitions[type]!.properties.config !== undefined;
}

/** Numbers of the service for each fault, where a field does not say another. */
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

/** The number of a fault of a field. */
export function numberOf(fault: Fault, shape: Shape): number {
  return shape.codes?.[fault] ?? NUMBERS[fault];
}
