import * as z from 'zod';

/**
 * Fields that the schemas of several actions share.
 *
 * What a JSON type cannot say about a field is said as data, in `.meta(…)`, and goes into the JSON Schema:
 * that is what the checker of documents reads (`document/config.ts`), so no action needs a checker of its own.
 * `FieldFacts` lists all that it knows.
 */

/** The form of a text, or of what a template makes. */
export type Kind =
  /** A length of time: `90s`, `1h30m`, or a whole number of nanoseconds. Bounds are `least`, `most`, `step`. */
  | 'duration'
  /** One bare expression, without `${}`; its result may be of any type unless `condition` is set. */
  | 'expression'
  | 'cidr'
  | 'ip_policy'
  | 'url'
  /** An RE2 pattern; a template may stand in it and is replaced before it is compiled. */
  | 'pattern'
  | 'header_map'
  | 'header_name'
  /** `user:password` of HTTP Basic authentication. */
  | 'credential'
  | 'pem'
  /** `vars` of set-vars: a list of maps with one key each. */
  | 'variables'
  /** Any JSON value; every text in it is a template. */
  | 'data';

/** Keys of `.meta(…)` and of the JSON Schema made from it. */
export interface FieldFacts {
  readonly description: string;
  readonly kind?: Kind;
  /** `${…}` in the text is evaluated when the action runs. */
  readonly template?: true;
  /** The text is a secret: it should not stand in a document in clear. */
  readonly secret?: true;
  /** The expression must be of type bool. */
  readonly condition?: true;
  /** Name of the scope of expressions in this field when it is not the one of the phase. */
  readonly scope?: 'retry';
  /** A field that the service sets; only this value may be given. */
  readonly fixed?: number;
  /** Values in any letter case. */
  readonly enumAnyCase?: readonly string[];
  /** Older names of the fields of an object, and what they are called now. */
  readonly aliases?: Readonly<Record<string, string>>;
  /** Pointer-like names of fields that a document of the field may stand in as a list of one. */
  readonly listOfOne?: true;
  /** Numbers of the codes that differ from the usual ones (`codes/numbers.ts`). */
  readonly codes?: Readonly<Partial<Record<Fault, number>>>;
}

/** What can be wrong with the value of a field. */
export type Fault =
  | 'type'
  | 'choice'
  | 'missing'
  | 'empty'
  | 'range'
  | 'too_long'
  | 'too_short'
  | 'too_many'
  | 'duplicate'
  | 'form';

const HEADER_COUNT_LIMIT = 10;

/** A text of any length in which `${…}` is evaluated. */
export function template(description: string, facts: Omit<FieldFacts, 'description'> = {}) {
  return z.string().meta({ description, template: true, ...facts });
}

/** A text in which `${…}` is evaluated and that must not be empty. */
export function neededTemplate(description: string, facts: Omit<FieldFacts, 'description'> = {}) {
  return z
    .string()
    .min(1)
    .meta({ description, template: true, ...facts });
}

/** One bare expression. */
export function expression(description: string, facts: Omit<FieldFacts, 'description'> = {}) {
  return z
    .string()
    .min(1)
    .meta({ description, kind: 'expression', ...facts });
}

export interface DurationBounds {
  readonly least?: string;
  readonly most?: string;
  readonly step?: string;
}

/** A length of time as written; `durationMs` (`actions/duration.ts`) reads it. */
export function duration(description: string, bounds: DurationBounds = {}) {
  return z.union([z.string(), z.int()]).meta({ description, kind: 'duration', ...bounds });
}

/** Header names with values in which `${…}` is evaluated; at most ten, and no fewer than `least`. */
export function headerMap(description: string, least: 0 | 1) {
  return z.record(z.string(), z.string()).meta({
    description,
    kind: 'header_map',
    template: true,
    minProperties: least,
    maxProperties: HEADER_COUNT_LIMIT,
    codes: { too_many: 2212 },
  });
}

/** Whether a failed check stops the request. */
export const enforce = z
  .boolean()
  .default(true)
  .describe('Whether a request that fails is stopped; when false the result is only recorded.');

/** Whether the policy goes on after an error of this action. */
export function onError(standard: 'halt' | 'continue') {
  return z
    .enum(['halt', 'continue'])
    .default(standard)
    .describe('Whether an error of this action ends the policy or the next action runs.');
}

/** The pattern of what is replaced. */
export function pattern(description: string) {
  return z.string().min(1).meta({ description, kind: 'pattern', template: true });
}
