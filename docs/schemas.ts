import { writeFileSync } from 'node:fs';
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
  ['schema/edge.json', withReadyProperties(edgeFileJsonSchema())],
  ['schema/policy.json', policyEditorSchema()],
  ['schema/scenario.json', scenarioJsonSchema()],
  [
    'schema/property.json',
    {
      $schema: 'http://json-schema.org/draft-07/schema#',
      title: 'edgeproof property file',
      ...propertyFileShape(edgeFileJsonSchema()),
    },
  ],
];

for (const [path, schema] of FILES)
  writeFileSync(new URL(`../${path}`, import.meta.url), `${JSON.stringify(schema, null, 2)}\n`);

/** For editors: the names of ready-made properties, too. */
function withReadyProperties(schema: object): object {
  const { properties } = schema as { readonly properties: object };
  return { ...schema, properties: { ...properties, properties: propertiesShape(schema) } };
}
