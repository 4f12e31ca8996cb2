import * as z from 'zod';

/** Metadata of schemas that JSON Schema does not have; as extensions they begin with `x-`. */
const OWN_METADATA = ['maxBytes', 'form', 'enumAnyCase', 'codes', 'aliases'];

/** What only readers of files need (`config_file/shape.ts`). */
const METADATA_OF_FILES = ['mutants', 'kind', 'shorthand', 'switch'];

/** A schema as JSON Schema (2020-12, as in OpenAPI 3.1), for requests (`input`) or responses (`output`). */
export function jsonSchema(schema: z.ZodType, io: 'input' | 'output' = 'input'): Record<string, unknown> {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, {
    target: 'draft-2020-12',
    io,
    unrepresentable: 'any',
    override: ({ jsonSchema: made }) => {
      const members = made as Record<string, unknown>;
      for (const name of METADATA_OF_FILES) delete members[name];
      for (const name of OWN_METADATA.filter((each) => Object.hasOwn(members, each))) {
        members[`x-${name}`] = members[name];
        delete members[name];
      }
    },
  });
  return rest;
}
