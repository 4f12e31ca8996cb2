import { anchorOf, code, table } from './markdown.ts';
import { exampleOf, type ExampleSource } from './examples.ts';
import { type Schema, definitionOf, limitsText, inLine, typeText, valuesOf } from './schema_values.ts';

/** How the keys of one page are shown. */
export interface Sections {
  /** Address of the page about expressions. */
  readonly expressions: string;
  /** Address of the page or section of a definition. */
  readonly definition: (name: string) => string;
  /** What a definition is, for keys without a sentence of their own. */
  readonly describe?: (name: string) => string | undefined;
  /** Address of the page that documents a key of this path, instead of this page. */
  readonly elsewhere?: (path: string, key: string) => string | undefined;
  readonly examples: ExampleSource;
  /** Links to the codes with which wrong values of a key are refused. */
  readonly codes?: (key: string, schema: Schema) => readonly string[];
  /** Depth of the headings; default 2. */
  readonly depth?: number;
}

/**
 * A section with a table for each map of a schema: `backends.NAME.static` for `static` below any name in `backends`,
 * `rules[]` for an entry of a list. `path` is that of the schema itself; empty for a whole file.
 */
export function sectionsOf(schema: Schema, path: string, sections: Sections): string[] {
  const places = placesOf(schema, path, sections);
  return [...places.values()].flatMap(([each, at]) => section(each, at, places, sections));
}

/** The maps with keys, in order, by their content: the same map as an entry of a list and alone is documented once. */
type Places = ReadonlyMap<string, readonly [schema: Schema, path: string]>;

function placesOf(schema: Schema, path: string, { elsewhere }: Sections): Places {
  const places = new Map<string, readonly [Schema, string]>();
  const visit = (each: Schema, at: string): void => {
    if (definitionOf(each) !== undefined) return;
    for (const choice of each.anyOf ?? []) visit(choice, at);
    if (each.items !== undefined) visit(each.items, `${at}[]`);
    const values = valuesOf(each);
    if (values !== undefined && each.properties === undefined) visit(values, joined(at, 'NAME'));
    const keys = Object.entries(each.properties ?? {});
    const content = JSON.stringify(each);
    if (keys.length === 0 || places.has(content)) return;
    places.set(content, [each, at]);
    for (const [key, below] of keys) if (elsewhere?.(at, key) === undefined) visit(below, joined(at, key));
  };
  visit(schema, path);
  return places;
}

function joined(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`;
}

function section(schema: Schema, path: string, places: Places, sections: Sections): string[] {
  const heading = `${'#'.repeat(sections.depth ?? 2)} ${path === '' ? 'Top level' : code(path)}`;
  const required = new Set(schema.required);
  const rows = Object.entries(schema.properties!).map(([key, value]) => [
    code(key),
    meaningOf(value, joined(path, key), sections),
    typeOf(value, sections.elsewhere?.(path, key), places, sections),
    required.has(key) ? '**required**' : defaultOf(value),
    limitsText(value),
    sections.codes?.(joined(path, key), value).join(', ') ?? '',
  ]);
  // On a narrow screen, a table is scrolled: what a key means is in sight.
  const head = ['Key', 'Meaning', 'Type', 'Default', 'Limits', 'Codes'];
  return [
    heading,
    schema.description ?? '',
    sections.codes === undefined
      ? table(
          head.slice(0, -1),
          rows.map((row) => row.slice(0, -1)),
        )
      : table(head, rows),
    otherNames(schema),
  ].filter((block) => block !== '');
}

function defaultOf(schema: Schema): string {
  return schema.default === undefined ? '' : code(inLine(schema.default));
}

/** The type, with a link to the section of its keys, or to the page `elsewhere` that has them. */
function typeOf(schema: Schema, elsewhere: string | undefined, places: Places, sections: Sections): string {
  const nameOf = (name: string): string => `[${name.replaceAll('_', ' ')}](${sections.definition(name)})`;
  const text = typeText(schema, nameOf, sections.expressions);
  if (elsewhere !== undefined) return `[${text}](${elsewhere})`;
  const place = placeOf(schema, places);
  return place === undefined ? text : text.replace(/map$/, `[map](#${anchorOf(place)})`);
}

/** The path of the section with the keys below a value, if it has one. */
function placeOf(schema: Schema, places: Places): string | undefined {
  const own = places.get(JSON.stringify(schema))?.[1];
  if (own !== undefined) return own;
  const inner = [schema.items, valuesOf(schema), ...(schema.anyOf ?? [])];
  for (const each of inner) {
    const found = each === undefined ? undefined : placeOf(each, places);
    if (found !== undefined) return found;
  }
  return undefined;
}

function meaningOf(schema: Schema, path: string, sections: Sections): string {
  const definition = definitionOf(schema);
  const inherited = definition === undefined ? undefined : sections.describe?.(definition);
  const parts = [schema.description ?? inherited ?? itemText(schema)];
  if (schema.secret === true) parts.push('A secret: use `secrets.get(…)`.');
  const example = exampleOf(path, schema, sections.examples);
  if (example !== undefined) parts.push(`Example: ${code(example)}`);
  return parts.filter((part) => part !== '').join(' ');
}

/** What a value is that has no sentence of its own: that of its entries. */
function itemText({ items, anyOf, additionalProperties: values, allOf }: Schema): string {
  const inner = items ?? (typeof values === 'object' ? values : undefined) ?? allOf?.[0];
  return inner?.description ?? anyOf?.find(({ description }) => description !== undefined)?.description ?? '';
}

function otherNames({ aliases = {}, synonyms = {} }: Schema): string {
  const lines = [
    ...Object.entries(synonyms).map(([other, key]) => `${code(other)} means ${code(key)}.`),
    ...Object.entries(aliases).map(([old, key]) => `${code(old)} is a former name of ${code(key)}.`),
  ];
  return lines.join(' ');
}
