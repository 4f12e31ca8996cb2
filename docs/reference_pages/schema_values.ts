/** JSON Schema as our schemas write it, with the facts that they add. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly default?: unknown;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly enumAnyCase?: readonly string[];
  readonly choices?: readonly number[];
  readonly anyOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly propertyNames?: Schema;
  readonly items?: Schema;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly maxBytes?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly uniqueItems?: boolean;
  readonly pattern?: string;
  readonly form?: string;
  readonly least?: string;
  readonly most?: string;
  readonly step?: string;
  readonly kind?: string;
  readonly template?: boolean;
  readonly condition?: boolean;
  readonly secret?: boolean;
  readonly fixed?: number;
  readonly aliases?: Readonly<Record<string, string>>;
  readonly synonyms?: Readonly<Record<string, string>>;
  readonly codes?: Readonly<Record<string, number>>;
}

const KINDS: Readonly<Record<string, string>> = {
  cidr: 'address range',
  credential: '`user:password`',
  data: 'any JSON value',
  duration: 'duration',
  expression: '[expression](EXPRESSIONS)',
  header_map: 'map of headers',
  header_name: 'header name',
  internal_url: 'internal URL',
  ip_policy: 'name of an IP policy',
  pattern: 'RE2 pattern',
  pem: 'PEM text',
  url: 'URL',
  variables: 'list of maps with one key each',
};

/** The name of a definition. */
export function definitionOf({ $ref, allOf }: Schema): string | undefined {
  const ref = $ref ?? (allOf?.length === 1 ? allOf[0]!.$ref : undefined);
  return ref?.replace(/^#\/definitions\//, '');
}

/** Whether it is a map with names of the user's choice. */
export function valuesOf({ additionalProperties: values }: Schema): Schema | undefined {
  return typeof values === 'object' && Object.keys(values).length > 0 ? values : undefined;
}

/**
 * The type of a value in words. `nameOf` gives a text for a definition, usually a link; `expressions` is the address
 * of the page about expressions.
 */
export function typeText(
  schema: Schema,
  nameOf: (definition: string) => string,
  expressions: string,
): string {
  const typeOf = (each: Schema): string => typeText(each, nameOf, expressions);
  const definition = definitionOf(schema);
  if (definition !== undefined) return nameOf(definition);
  if (schema.kind !== undefined) return KINDS[schema.kind]!.replace('EXPRESSIONS', expressions);
  if (schema.template === true) return 'string with templates';
  if (schema.anyOf !== undefined) return [...new Set(schema.anyOf.map(typeOf))].join(' or ');
  if (schema.const !== undefined) return `\`${inLine(schema.const)}\``;
  if (schema.type === 'array') return schema.items === undefined ? 'list' : `list of ${typeOf(schema.items)}`;
  if (schema.type === 'object') {
    const values = valuesOf(schema);
    return values === undefined || schema.properties !== undefined ? 'map' : `map of ${typeOf(values)}`;
  }
  if (Array.isArray(schema.type)) return schema.type.join(' or ');
  return typeof schema.type === 'string' ? schema.type : 'any value';
}

/** The limits of a value in words: bounds, lengths, forms and allowed values. */
export function limitsText(schema: Schema): string {
  const { items, form, pattern, uniqueItems, least, most, step, fixed } = schema;
  const limits = [
    allowed(schema.enum ?? schema.enumAnyCase ?? schema.choices),
    schema.enumAnyCase === undefined ? '' : 'in any letter case',
    range(schema.minimum, schema.maximum, ''),
    range(least, most, ''),
    step === undefined ? '' : `a multiple of ${step}`,
    fixed === undefined ? '' : `always ${fixed}`,
    lengths(schema),
    counted(schema.minItems, schema.maxItems, ' entries'),
    counted(schema.minProperties, schema.maxProperties, ' keys'),
    uniqueItems === true ? 'no entry twice' : '',
    form ?? (pattern === undefined ? '' : `matches \`${pattern}\``),
    schema.propertyNames?.form === undefined ? '' : `each key is ${schema.propertyNames.form}`,
    items === undefined || items.properties !== undefined ? '' : prefixed('each entry: ', limitsText(items)),
    ...(schema.anyOf ?? []).map((each) => (each.properties === undefined ? limitsText(each) : '')),
  ];
  return [...new Set(limits.filter((limit) => limit !== ''))].join('; ');
}

function prefixed(prefix: string, text: string): string {
  return text === '' ? '' : `${prefix}${text}`;
}

function allowed(values: readonly unknown[] | undefined): string {
  if (values === undefined) return '';
  const shown = values.map((value) => `\`${value === '' ? '""' : String(value)}\``);
  return shown.length === 1 ? shown[0]! : `one of ${shown.join(', ')}`;
}

function counted(least: number | undefined, most: number | undefined, unit: string): string {
  return least === 1 && most === undefined ? 'not empty' : range(least, most, unit);
}

function lengths({ minLength, maxLength, maxBytes }: Schema): string {
  const bytes = maxBytes === undefined ? '' : `at most ${grouped(maxBytes)} bytes`;
  return [counted(minLength, maxLength, ' characters'), bytes].filter(Boolean).join(', ');
}

/** Bounds that JSON Schema needs and a reader does not are left out: those of safe integers. */
function range(from: number | string | undefined, to: number | string | undefined, unit: string): string {
  const least = typeof from === 'number' && from <= Number.MIN_SAFE_INTEGER ? undefined : from;
  const most = typeof to === 'number' && to >= Number.MAX_SAFE_INTEGER ? undefined : to;
  if (least === undefined && most === undefined) return '';
  if (least === most) return `${grouped(least!)}${unit}`;
  if (least === undefined) return `at most ${grouped(most!)}${unit}`;
  if (most === undefined) return `at least ${grouped(least)}${unit}`;
  return `${grouped(least)} to ${grouped(most)}${unit}`;
}

function grouped(value: number | string): string {
  return typeof value === 'number' ? value.toLocaleString('en-US') : value;
}

/** A value on one line, as JSON, which is YAML, too. */
export function inLine(value: unknown): string {
  return JSON.stringify(value);
}
