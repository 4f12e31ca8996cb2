import { writeFileSync } from 'node:fs';
import { editorSchema } from './editor_schema.ts';
import type { Shape } from '../src/config_file/shape.ts';
import { edgeFileJsonSchema } from '../src/edge/document/schema.ts';
import { policyEditorSchema, policyJsonSchema } from '../src/policy/document/schema.ts';
import { propertiesShape, propertyFileShape } from '../src/project_files/property_file.ts';
import { scenarioJsonSchema } from '../src/simulator/document/schema.ts';

/**
 * Writes the JSON Schemas: `npm run generate`, before the pages, because the checker that those ask reads the schemas
 * in `src`.
 */
const FILES: readonly (readonly [path: string, schema: object])[] = [
  ['src/edge/document/edge_file.schema.json', edgeFileJsonSchema()],
  ['src/policy/document/policy.schema.json', policyJsonSchema()],
  ['src/simulator/document/scenario.schema.json', scenarioJsonSchema()],
  ['schema/edge.json', editorSchema('edge', edgeSchema())],
  ['schema/policy.json', editorSchema('policy', policyEditorSchema())],
  ['schema/scenario.json', editorSchema('scenario', scenarioJsonSchema())],
  [
    'schema/property.json',
    editorSchema('property', {
      $schema: 'http://json-schema.org/draft-07/schema#',
      title: 'edgeproof property file',
      description: 'Statements about every request of an edge file.',
      ...propertyFileShape(edgeFileJsonSchema()),
    }),
  ],
];

for (const [path, schema] of FILES)
  writeFileSync(new URL(`../${path}`, import.meta.url), `${JSON.stringify(schema, null, 2)}\n`);

/** For editors: the names of ready-made properties, and the rules of policies; a file that includes others may have no edges. */
function edgeSchema(): object {
  const schema = edgeFileJsonSchema() as Shape & { readonly required: readonly string[] };
  const policy = policyEditorSchema() as { readonly properties: object; readonly definitions: object };
  const { required: _parts, properties, ...rest } = schema;
  const whole = {
    ...rest,
    definitions: policy.definitions,
    properties: { ...properties, properties: propertiesShape(schema) },
  };
  const text = JSON.stringify(whole, (key, value: unknown) => {
    if (key !== 'traffic_policy') return value;
    const { properties: own, ...others } = value as { readonly properties: object };
    return { ...others, properties: { ...own, ...policy.properties } };
  });
  return JSON.parse(text) as object;
}
