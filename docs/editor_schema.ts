/** Keywords of JSON Schema, draft 7, that editors and strict validators know. */
// table: keywords
const KEYWORDS: ReadonlySet<string> = new Set([
  '$schema',
  '$id',
  '$ref',
  'title',
  'description',
  'default',
  'examples',
  'definitions',
  'type',
  'properties',
  'required',
  'additionalProperties',
  'propertyNames',
  'minProperties',
  'maxProperties',
  'items',
  'minItems',
  'maxItems',
  'uniqueItems',
  'enum',
  'const',
  'minLength',
  'maxLength',
  'pattern',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'anyOf',
]);
/** Keywords whose values are schemas by name. */
const MAPS: ReadonlySet<string> = new Set(['properties', 'definitions']);
/** Keywords whose values are data. */
const DATA: ReadonlySet<string> = new Set(['default', 'examples', 'enum', 'const', 'required']);

/**
 * A schema without the keywords of our own checker, as strict validators and SchemaStore require it. What these say is
 * kept where a standard keyword can say it.
 */
export function editorSchema(kind: string, schema: object): object {
  const text = JSON.stringify(plain(schema), (_key, value: unknown) =>
    kind === 'scenario' ? orVariable(value) : value,
  );
  const { $schema, ...rest } = JSON.parse(text) as { readonly $schema: string };
  return { $schema, $id: `https://json.schemastore.org/edgeproof-${kind}.json`, ...rest };
}

function plain(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(plain);
  if (typeof schema !== 'object' || schema === null) return schema;
  const entries = Object.entries(schema).flatMap(([key, value]): [string, unknown][] => {
    // A text of that many bytes has no more characters.
    if (key === 'maxBytes') return [['maxLength', value]];
    if (key === 'type' && Array.isArray(value)) return [['anyOf', value.map((type: unknown) => ({ type }))]];
    if (!KEYWORDS.has(key)) return [];
    if (MAPS.has(key))
      return [
        [key, Object.fromEntries(Object.entries(value as object).map(([name, each]) => [name, plain(each)]))],
      ];
    return [[key, DATA.has(key) ? value : plain(value)]];
  });
  return Object.fromEntries(entries);
}

/** In scenario files, a variable such as `{ip}` can take the place of every text. */
function orVariable(schema: unknown): unknown {
  if (typeof schema !== 'object' || schema === null || !('type' in schema) || schema.type !== 'string')
    return schema;
  const { description, enum: words, pattern, ...rest } = schema as Readonly<Record<string, unknown>>;
  if (!Array.isArray(words) && typeof pattern !== 'string') return schema;
  const [own, variable] = [Array.isArray(words) ? { enum: words } : { pattern }, { pattern: '\\{[^}]+\\}' }];
  return { ...(description !== undefined && { description }), ...rest, anyOf: [own, variable] };
}
