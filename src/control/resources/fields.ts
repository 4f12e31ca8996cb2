import * as z from 'zod';
import { textOfBytes } from '../../filters/module_fields_schema.ts';
import type { Body, Field, Reading, Reference, WriteRule } from './contract.ts';
import type { FieldCodes } from '../../filters/facts.ts';

const DESCRIPTION_LIMIT_BYTES = 255;
const METADATA_LIMIT_BYTES = 4096;

export const refSchema = z
  .strictObject({
    id: z.string().describe('Id of the referenced object.'),
    uri: z.string().describe('URL of the referenced object.'),
  })
  .describe('Another object.');

/** When responses omit a field: never, if it was not set, or never but null if it was not set. */
type Shown = 'always' | 'when_set' | 'or_null';

interface Writing {
  readonly create?: WriteRule['create'];
  readonly update?: WriteRule['update'];
  readonly standard?: unknown;
  readonly codes?: FieldCodes;
}

/** A field that responses show as written. */
export function field(
  name: string,
  schema: z.ZodType,
  { read = 'always', ...writing }: Writing & { readonly read?: Shown | 'never' } = {},
): Field {
  const write = ruleOf(schema, writing);
  if (read === 'never') return { write };
  const schemaShown =
    read === 'or_null' ? schema.nullable() : read === 'when_set' ? schema.optional() : schema;
  return { write, read: { name, schema: schemaShown, show: (body) => shown(body[name], read) } };
}

function ruleOf(schema: z.ZodType, { create = 'optional', update = 'keeps', ...rest }: Writing): WriteRule {
  return { schema, create, update, ...rest };
}

function shown(value: unknown, read: Shown): unknown {
  if (read === 'when_set') return value === '' ? undefined : value;
  return read === 'or_null' ? (value ?? null) : value;
}

/** `description` and `metadata`, with their error numbers. */
export function notes(
  descriptionNumber: number,
  metadataNumber: number,
): { readonly description: Field; readonly metadata: Field } {
  return {
    description: field(
      'description',
      textOfBytes(DESCRIPTION_LIMIT_BYTES, 'Description, at most 255 bytes.'),
      { read: 'when_set', codes: { bad: descriptionNumber } },
    ),
    metadata: field(
      'metadata',
      textOfBytes(METADATA_LIMIT_BYTES, 'Arbitrary machine-readable data, at most 4096 bytes.'),
      { read: 'when_set', codes: { bad: metadataNumber } },
    ),
  };
}

/** A computed field: from the body, or from values stored for it. */
export function derive(
  name: string,
  schema: z.ZodType,
  show: (body: Body, reading: Reading) => unknown = (body) => body[name],
): Field {
  return { read: { name, schema, show } };
}

export const createdAt = derive('created_at', z.string().describe('Creation time, RFC 3339.'));

interface Referring extends Writing {
  readonly kinds: readonly string[];
  /** Error number if the object does not exist or is of another kind. */
  readonly missing: number;
  readonly wrong?: number;
}

/** The id of another object in requests, a Ref in responses. */
export function ref(name: string, shownAs: string, describes: string, referring: Referring): Field {
  const { kinds, missing, wrong = 227, ...writing } = referring;
  return {
    write: ruleOf(z.string().min(1).describe(describes), writing),
    refers: (id: string) => [{ id, pointer: '', kinds, missing, wrong }],
    read: {
      name: shownAs,
      schema: refSchema.nullable(),
      show: (body, { refOf }) => {
        const id = body[name] as string | undefined;
        return id === undefined || id === '' ? null : refOf(id);
      },
    },
  };
}

/** A list of ids in requests, a list of Refs in responses. */
export function refs(name: string, shownAs: string, describes: string, referring: Referring): Field {
  const { kinds, missing, wrong = 227, ...writing } = referring;
  return {
    write: ruleOf(z.array(z.string().min(1)).describe(describes), writing),
    refers: (ids: readonly string[]) => referencesOf(ids, '', kinds, missing, wrong),
    read: {
      name: shownAs,
      schema: z.array(refSchema),
      show: (body, { refOf }) => ((body[name] as readonly string[] | undefined) ?? []).map(refOf),
    },
  };
}

/** One reference per id of a list. */
export function referencesOf(
  ids: readonly string[],
  pointer: string,
  kinds: readonly string[],
  missing: number,
  wrong: number,
): Reference[] {
  return ids.map((id, index) => ({ id, pointer: `${pointer}/${index}`, kinds, missing, wrong }));
}
