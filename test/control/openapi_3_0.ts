type Json = Readonly<Record<string, unknown>>;

const isMap = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isNull = (schema: unknown): boolean => isMap(schema) && schema['type'] === 'null';

/** Keywords that OpenAPI 3.0 does not have, and that only refuse or describe. */
const UNKNOWN = new Set(['$schema', 'propertyNames', 'examples', 'prefixItems']);
const FAILED = ['400', '403', '404', '409', '413', '415', '429', '500'];
const LARGEST_INT32 = 2 ** 31 - 1;

/** A description of OpenAPI 3.1 in the form of 3.0, for generators that know no other. */
export function asOpenApi30(description: Json): Json {
  const { name } = (description['info'] as Json)['license'] as Json;
  const info = { ...(description['info'] as Json), license: { name } };
  return { ...(converted(description) as Json), openapi: '3.0.3', info };
}

function converted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(converted);
  if (!isMap(value)) return value;
  const { anyOf, oneOf, properties, ...rest } = value;
  const alternatives = anyOf ?? oneOf;
  if ('5XX' in value) {
    // Not every generator knows ranges of statuses.
    const { '4XX': failed, '5XX': _, ...done } = value;
    return converted({ ...done, ...Object.fromEntries(FAILED.map((status) => [status, failed])) });
  }
  const own = Object.fromEntries(
    Object.entries(rest).flatMap(([key, each]) => (UNKNOWN.has(key) ? [] : keyword(key, each))),
  );
  return {
    ...own,
    // An object without properties is a map; some generators have no other type for it.
    ...(rest['type'] === 'object' &&
      properties === undefined &&
      Object.keys(rest['additionalProperties'] ?? {}).length === 0 && {
        additionalProperties: { type: 'string' },
      }),
    // A property may have the name of a keyword.
    ...(isMap(properties) && {
      properties: Object.fromEntries(Object.entries(properties).map(([key, each]) => [key, converted(each)])),
    }),
    ...(Array.isArray(alternatives) && withoutNull(alternatives)),
  };
}

function keyword(key: string, value: unknown): [string, unknown][] {
  if (key === 'const') return [['type', typeof value], ['enum', [value]]]; // prettier-ignore
  if (key === 'exclusiveMinimum' && typeof value === 'number')
    return [['minimum', value], ['exclusiveMinimum', true]]; // prettier-ignore
  if (key === 'maximum' && Number(value) > LARGEST_INT32) return [['format', 'int64']];
  if (key === 'minimum' && Number(value) < -LARGEST_INT32) return [];
  if (key === 'type' && value === 'null') return [['type', 'string'], ['nullable', true]]; // prettier-ignore
  if (key !== 'type' || !Array.isArray(value)) return [[key, converted(value)]];
  const types = value.filter((type) => type !== 'null');
  return [
    ...(types.length === 1 ? ([['type', types[0]]] as [string, unknown][]) : []),
    ...(types.length < value.length ? ([['nullable', true]] as [string, unknown][]) : []),
  ];
}

function withoutNull(alternatives: readonly unknown[]): Json {
  const others = alternatives.filter((each) => !isNull(each)).map(converted) as Json[];
  const nullable = others.length < alternatives.length ? { nullable: true } : {};
  const [only] = others;
  if (others.length > 1 || only === undefined) return { anyOf: others, ...nullable };
  return '$ref' in only ? { allOf: [only], ...nullable } : { ...only, ...nullable };
}
