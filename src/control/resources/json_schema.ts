import * as z from 'zod';

/** A schema as JSON Schema (2020-12, as in OpenAPI 3.1), for requests (`input`) or responses (`output`). */
export function jsonSchema(schema: z.ZodType, io: 'input' | 'output' = 'input'): Record<string, unknown> {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, {
    target: 'draft-2020-12',
    io,
    unrepresentable: 'any',
  });
  return rest;
}
