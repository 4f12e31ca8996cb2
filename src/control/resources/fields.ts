import * as z from 'zod';
import { textOfBytes } from '../../filters/module_fields_schema.ts';
import type { Field, Reading, Reference, Resource, ResourceCodes, WriteRule } from './contract.ts';
import { COMMON } from './problem.ts';
import type { FieldCodes } from '../../filters/fact_values.ts';

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
  readonly emptyIsUnset?: readonly string[];
  readonly refusesNulls?: boolean;
}

/** A field that responses show as written. */
export function field(
  schema: z.ZodType,
  { read = 'always', ...writing }: Writing & { readonly read?: Shown | 'never' } = {},
): Field {
  const write = ruleOf(schema, writing);
  if (read === 'never') return { write };
  const schemaShown =
    read === 'or_null' ? schema.nullable() : read === 'when_set' ? schema.optional() : schema;
  return { write, read: { schema: schemaShown, show: (value) => shown(value, read) } };
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
  descriptionNumber: number = COMMON.badValue,
  metadataNumber: number = COMMON.badValue,
): { readonly description: Field; readonly metadata: Field } {
  return {
    description: field(textOfBytes(DESCRIPTION_LIMIT_BYTES, 'Description, at most 255 bytes.'), {
      read: 'when_set',
      codes: { bad: descriptionNumber },
    }),
    metadata: field(
      textOfBytes(METADATA_LIMIT_BYTES, 'Arbitrary machine-readable data, at most 4096 bytes.'),
      { read: 'when_set', codes: { bad: metadataNumber } },
    ),
  };
}

/** A computed field: the stored value as it is, or what is made of it. */
export function derive(
  schema: z.ZodType,
  show: (value: unknown, reading: Reading) => unknown = (value) => value,
): Field {
  return { read: { schema, show } };
}

type OwnParts = Omit<Resource, 'operations' | 'codes'> & {
  readonly operations?: Resource['operations'];
  readonly codes?: Partial<ResourceCodes>;
};

/** A kind of object: by default with all operations, and always with its creation time. */
export function resource({ fields, codes, ...own }: OwnParts): Resource {
  return {
    operations: ['create', 'get', 'list', 'update', 'delete'],
    ...own,
    fields: { ...fields, created_at: derive(z.string().describe('Creation time, RFC 3339.')) },
    codes: { notFound: COMMON.notFound, inUse: COMMON.badValue, ...codes },
  };
}

interface Referring extends Writing {
  readonly kinds: readonly string[];
  /** Error number if the object does not exist or is of another kind. */
  readonly missing: number;
  readonly wrong?: number;
}

/** The id of another object in requests, a Ref in responses. */
export function ref(shownAs: string, describes: string, referring: Referring): Field {
  const { kinds, missing, wrong = 227, ...writing } = referring;
  return {
    write: ruleOf(z.string().min(1).describe(describes), writing),
    refers: (id: string) => [{ id, pointer: '', kinds, missing, wrong }],
    read: {
      name: shownAs,
      schema: refSchema.nullable(),
      show: (id, { refOf }) => (id === undefined || id === '' ? null : refOf(id as string)),
    },
  };
}

/** A list of ids in requests, a list of Refs in responses. */
export function refs(shownAs: string, describes: string, referring: Referring): Field {
  const { kinds, missing, wrong = 227, ...writing } = referring;
  return {
    write: ruleOf(z.array(z.string().min(1)).describe(describes), writing),
    refers: (ids: readonly string[]) => referencesOf(ids, '', kinds, missing, wrong),
    read: {
      name: shownAs,
      schema: z.array(refSchema),
      show: (ids, { refOf }) => ((ids as readonly string[] | undefined) ?? []).map(refOf),
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
