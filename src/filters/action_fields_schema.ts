import * as z from 'zod';

/**
 * Common fields of action schemas.
 *
 * Constraints that JSON types cannot express are given as data in `.meta(…)` and become part of the JSON
 * Schema. The document checker reads them (`document/config.ts`), so actions need no checker of their own.
 * `FieldFacts` lists all keys.
 */

/** The format of a string, or of the result of a template. */
export type Kind =
  /** A duration: `90s`, `1h30m`, or a whole number of nanoseconds. Bounds are `least`, `most`, `step`. */
  | 'duration'
  /** One expression without `${}`; its result may be of any type unless `condition` is set. */
  | 'expression'
  | 'cidr'
  | 'ip_policy'
  | 'internal_url'
  | 'url'
  /** An RE2 pattern; templates in it are evaluated before it is compiled. */
  | 'pattern'
  | 'header_map'
  | 'header_name'
  /** `user:password` of HTTP Basic authentication. */
  | 'credential'
  | 'pem'
  /** `vars` of set-vars: a list of maps with one key each. */
  | 'variables'
  /** Any JSON value; every string in it is a template. */
  | 'data';

/** Scopes of fields whose expressions have more variables than those of the phase: `retry` also has the attempts. */
export type FieldScope = 'retry';

/** Keys of `.meta(…)` and of the JSON Schema made from it. */
export interface FieldFacts {
  readonly description: string;
  readonly kind?: Kind;
  /** `${…}` in the string is evaluated when the action runs. */
  readonly template?: true;
  /** The string is a secret and should not be in a document in clear text. */
  readonly secret?: true;
  /** The expression must be of type bool. */
  readonly condition?: true;
  /** Name of the scope of expressions in this field, if it is not that of the phase; of a strategy only the syntax is checked. */
  readonly scope?: FieldScope | 'strategy';
  /** A field set by the service; only this value is allowed. */
  readonly fixed?: number;
  /** Values, case-insensitive. */
  readonly enumAnyCase?: readonly string[];
  /** Former names of an object's fields, with their current names. */
  readonly aliases?: Readonly<Record<string, string>>;
  /** Other current names of an object's fields. */
  readonly synonyms?: Readonly<Record<string, string>>;
  /** A list for which its only entry is also accepted. */
  readonly itemOrList?: true;
  /** Error numbers that differ from the default ones (`policy/document/shape.ts`). */
  readonly codes?: Readonly<Partial<Record<Fault, number>>>;
}

/** Possible faults of a field's value. */
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

/** A string of any length in which `${…}` is evaluated. */
export function template(description: string, facts: Omit<FieldFacts, 'description'> = {}) {
  return z.string().meta({ description, template: true, ...facts });
}

/** A non-empty string in which `${…}` is evaluated. */
export function neededTemplate(description: string, facts: Omit<FieldFacts, 'description'> = {}) {
  return z
    .string()
    .min(1)
    .meta({ description, template: true, ...facts });
}

/** One expression without `${}`. */
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

/** A duration as written; `durationMs` (`duration.ts`) parses it. */
export function duration(description: string, bounds: DurationBounds = {}) {
  return z.union([z.string(), z.int()]).meta({ description, kind: 'duration', ...bounds });
}

/** Header names with values in which `${…}` is evaluated; at least `least` and at most ten. */
export function headerMap(description: string, least: 0 | 1) {
  return z.record(z.string(), z.string()).meta({
    description,
    kind: 'header_map',
    template: true,
    // The checker makes strings of the others.
    additionalProperties: { type: ['string', 'number', 'boolean'] },
    minProperties: least,
    maxProperties: HEADER_COUNT_LIMIT,
    codes: { too_many: 2212 },
  });
}

/** Whether a failed check stops the request. */
export const enforce = z
  .boolean()
  .default(true)
  .describe('Whether a request that fails the check is stopped; if false, the result is only recorded.');

/** Whether the policy continues after an error of this action. */
export function onError(standard: 'halt' | 'continue') {
  return z
    .enum(['halt', 'continue'])
    .default(standard)
    .describe('Whether an error of this action stops the request or the next action runs.');
}

/** The pattern to replace. */
export function pattern(description: string) {
  return z.string().min(1).meta({ description, kind: 'pattern', template: true });
}

/** Replacements in the text of a body. */
export function bodyReplacements() {
  return z
    .array(
      z
        .strictObject({
          from: pattern('Pattern to replace everywhere in the body.'),
          to: template('Replacement; $1 is the first group.').default(''),
        })
        .describe('One replacement.'),
    )
    .min(1)
    .describe('Replacements, applied in order.');
}
