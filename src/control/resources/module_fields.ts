import * as z from 'zod';
import type { ModuleFacts } from '../../filters/facts.ts';
import type { ModuleReference } from '../../filters/fact_values.ts';
import type { EdgeKind } from '../../filters/phase.ts';
import {
  API_FORMS,
  EDGE_MODULES,
  ROUTE_MODULES as ROUTE_SCHEMAS,
  TCP_MODULES,
  TLS_MODULES,
} from '../../filters/module_schemas.ts';
import { MODULE_FACTS } from '../../filters/table.ts';
import { BACKEND_KINDS } from './backends.ts';
import type { Body, Field, Reading, Reference } from './contract.ts';
import { refSchema, referencesOf } from './fields.ts';

/** Kinds of object by the kind of reference. */
const KINDS: Readonly<Record<ModuleReference['kind'], readonly string[]>> = {
  backend: BACKEND_KINDS,
  certificate_authority: ['certificate_authority'],
  ip_policy: ['ip_policy'],
};

/** The member of a config with ids, and whether it is a list. */
export function idMember({ at }: Pick<ModuleReference, 'at'>): {
  readonly key: string;
  readonly isList: boolean;
} {
  const [key, rest] = at.slice(1).split('/');
  return { key: key!, isList: rest === '*' };
}

/** A module as its facts and schema say: null in responses if it is not configured. */
function module(facts: ModuleFacts<never>, edgeKind: EdgeKind, inFile: z.ZodObject): Field {
  const { references = [], secrets, apiCodes, fileOnly = [], emptyIsUnset } = facts;
  const { schema = without(inFile, fileOnly), shown } = API_FORMS.get(inFile) ?? {};
  const codes = typeof apiCodes === 'function' ? apiCodes(edgeKind) : apiCodes;
  return {
    isModule: true,
    write: {
      schema,
      create: 'optional',
      update: 'keeps',
      ...(codes && { codes }),
      ...(emptyIsUnset && { emptyIsUnset }),
    },
    ...(references.length > 0 && { refers: (config: Body) => referencesIn(config, references) }),
    ...(secrets && { secrets }),
    read: {
      schema: (shown?.schema ?? withReferences(schema, references)).nullable(),
      show: (value, reading) => {
        if (value === undefined) return null;
        const config = value as Body;
        return shown === undefined
          ? showReferences(config, references, reading)
          : shown.show(config, reading);
      },
    },
  };
}

function without(schema: z.ZodObject, members: readonly string[]): z.ZodObject {
  const shape = schema.shape as Readonly<Record<string, z.ZodType>>;
  const own = Object.entries(shape).filter(([member]) => !members.includes(member));
  if (own.length === Object.keys(shape).length) return schema;
  return z.strictObject(Object.fromEntries(own)).describe(schema.description ?? '');
}

/** The ids in a config, at the places that the module declares. */
function referencesIn(config: Body, references: readonly ModuleReference[]): readonly Reference[] {
  return references.flatMap((reference) => {
    const { kind, at, missing, wrong } = reference;
    const { key, isList } = idMember(reference);
    const kinds = KINDS[kind];
    return isList
      ? referencesOf(config[key] as readonly string[], `/${key}`, kinds, missing, wrong)
      : [{ id: config[key] as string, pointer: at, kinds, missing, wrong }];
  });
}

/** Objects in place of ids. */
function withReferences(schema: z.ZodObject, references: readonly ModuleReference[]): z.ZodObject {
  if (references.length === 0) return schema;
  const named = Object.fromEntries(references.map((reference) => [idMember(reference).key, reference]));
  return z.strictObject(
    Object.fromEntries(
      Object.entries(schema.shape as Readonly<Record<string, z.ZodType>>).map(([key, own]) => {
        const reference = named[key];
        if (reference === undefined) return [key, own];
        return [reference.shownAs, idMember(reference).isList ? z.array(refSchema) : refSchema];
      }),
    ),
  );
}

function showReferences(value: Body, references: readonly ModuleReference[], { refOf }: Reading): Body {
  const shown: Record<string, unknown> = { ...value };
  for (const reference of references) {
    const { key, isList } = idMember(reference);
    delete shown[key];
    shown[reference.shownAs] = isList ? (value[key] as string[]).map(refOf) : refOf(value[key] as string);
  }
  return shown;
}

function fieldsOf(
  schemas: Readonly<Record<string, z.ZodOptional<z.ZodObject>>>,
  edgeKind: EdgeKind,
): Readonly<Record<string, Field>> {
  return Object.fromEntries(
    Object.entries(schemas).map(([type, schema]) => [
      type,
      module(MODULE_FACTS.get(type)!, edgeKind, schema.unwrap()),
    ]),
  );
}

/** The modules of HTTPS edges, of their routes, and of the other edges. */
export const EDGE_FIELDS = fieldsOf(EDGE_MODULES, 'https');
export const ROUTE_FIELDS = fieldsOf(ROUTE_SCHEMAS, 'https');
export const TLS_FIELDS = fieldsOf(TLS_MODULES, 'tls');
export const TCP_FIELDS = fieldsOf(TCP_MODULES, 'tcp');
