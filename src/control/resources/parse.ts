import { weakMemoize } from '../../caches/weak_memoize.ts';
import * as z from 'zod';
import { changedAt } from '../../edge/document/value_places.ts';
import { pointerTo } from '../../diagnostics/diagnostic.ts';
import type { Body, Field, Reference, Resource } from './contract.ts';
import type { FieldCodes } from '../../filters/fact_values.ts';
import { issueMessage } from './issue_messages.ts';
import { ApiProblem, COMMON, refusedValue } from './problem.ts';

type Operation = 'create' | 'update';

/** The schema of a request's body. */
export function writeSchema(resource: Resource, operation: Operation): z.ZodObject {
  return SCHEMAS[operation](resource);
}

const SCHEMAS = { create: schemasFor('create'), update: schemasFor('update') };

function schemasFor(operation: Operation) {
  return weakMemoize(({ fields }: Resource): z.ZodObject => {
    const shape = Object.entries(fields).flatMap(([name, { write }]) => {
      if (write === undefined || write[operation] === 'refused') return [];
      const isRequired = operation === 'create' && write.create === 'required';
      return [[name, isRequired ? write.schema : write.schema.optional()] as const];
    });
    return z.strictObject(Object.fromEntries(shape));
  });
}

/**
 * Parses the body of a request that creates or changes an object. `echoes` are the ids in the path: some
 * clients repeat them in the body, which is accepted if they are equal.
 */
export function parseWrite(
  resource: Resource,
  operation: 'create' | 'update',
  raw: unknown,
  echoes: Readonly<Record<string, string>>,
): Body {
  const body = withoutEchoes(asObject(raw), echoes);
  const nonNull = withoutUnsetNulls(withoutUnset(body, resource.fields), resource.fields);
  const given = operation === 'update' ? withoutEmpty(nonNull, resource.fields) : nonNull;
  const values = checked(writeSchema(resource, operation), given, resource.fields);
  const isEmpty = Object.keys(values).length === 0;
  if (operation === 'update' && isEmpty && resource.codes.emptyUpdate !== undefined) {
    throw new ApiProblem(400, resource.codes.emptyUpdate, 'The update has no changes.');
  }
  return values;
}

/** A module in a request, and its place in the body. */
export interface GivenModule {
  readonly value: Body;
  readonly pointer: string;
}

/**
 * Parses the body of a request that replaces one module: the module itself, or an object with a member
 * `module`.
 */
export function parseModule(
  name: string,
  field: Field,
  raw: unknown,
  echoes: Readonly<Record<string, string>>,
): GivenModule {
  const object = asObject(raw);
  if (object['module'] === null) {
    throw refusedValue(COMMON.badValue, '/module', 'The module is null; use DELETE to remove a module.');
  }
  const isWrapped = typeof object['module'] === 'object';
  if (isWrapped) {
    const unknown = Object.keys(withoutEchoes(object, echoes)).find((key) => key !== 'module');
    if (unknown !== undefined) throw unknownField(unknown, '', ['module', ...Object.keys(echoes)]);
  }
  const module = isWrapped ? object['module'] : object;
  const schema = z.strictObject({ [name]: field.write!.schema });
  const pointer = isWrapped ? '/module' : '';
  try {
    const given = withoutNulls(withoutUnset({ [name]: module }, { [name]: field })) as Body;
    const values = checked(schema, given, { [name]: field }, 1);
    return { value: values[name] as Body, pointer };
  } catch (error) {
    throw placedInModule(error, name, pointer);
  }
}

/** An error about a module, with its pointer in the body of the module's own request. */
export function placedInModule(error: unknown, name: string, pointer: string): unknown {
  if (!(error instanceof ApiProblem) || error.details['pointer'] === undefined) return error;
  const at = error.details['pointer'].replace(`/${name}`, pointer);
  return new ApiProblem(error.status, error.number, error.message, { ...error.details, pointer: at });
}

/** Parses a value of one schema, such as an event source. */
export function parseValue(
  schema: z.ZodObject,
  raw: unknown,
  echoes: Readonly<Record<string, string>>,
): Body {
  return checked(schema, withoutNulls(withoutEchoes(asObject(raw), echoes)) as Body, {});
}

/** The references in an object's values, with pointers from the root of the body. */
export function referencesIn(resource: Resource, body: Body): Reference[] {
  return Object.entries(resource.fields).flatMap(([name, { refers }]) => {
    const value = body[name];
    if (refers === undefined || value === undefined || value === '') return [];
    return refers(value as never).map((use) => Object.assign({}, use, { pointer: `/${name}${use.pointer}` }));
  });
}

function asObject(raw: unknown): Body {
  if (typeof raw === 'object' && raw !== null && !Array.isArray(raw)) return raw as Body;
  throw refusedValue(COMMON.badValue, '', 'The body must be a JSON object.');
}

function withoutEchoes(body: Body, echoes: Readonly<Record<string, string>>): Body {
  const rest = { ...body };
  for (const [name, value] of Object.entries(echoes)) {
    if (!Object.hasOwn(rest, name)) continue;
    if (rest[name] !== value) {
      const message = `The ${name} in the body differs from the path.`;
      throw refusedValue(COMMON.otherEdge, pointerTo('', name), message);
    }
    delete rest[name];
  }
  return rest;
}

/**
 * Removes null values: clients send null for fields that they do not set, so null must not delete anything,
 * such as the access control of a route.
 */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(([, each]) => each !== null);
  return Object.fromEntries(kept.map(([key, each]) => [key, withoutNulls(each)]));
}

/** The same for a body; fields that refuse null keep it, so that their schema refuses it. */
function withoutUnsetNulls(body: Body, fields: Readonly<Record<string, Field>>): Body {
  const given = withoutNulls(body) as Body;
  const refusing = Object.keys(given).filter(
    (name) => Object.hasOwn(fields, name) && fields[name]?.write?.refusesNulls === true,
  );
  return { ...given, ...Object.fromEntries(refusing.map((name) => [name, body[name]])) };
}

/** The body with null for every empty text that means unset. */
function withoutUnset(body: Body, fields: Readonly<Record<string, Field>>): Body {
  const changes: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(body)) {
    const { emptyIsUnset = [] } = (Object.hasOwn(fields, name) && fields[name]?.write) || {};
    const next = emptyIsUnset.reduce<unknown>(
      (whole, path) => changedAt(whole, path, '', (text) => (text === '' ? null : text)),
      value,
    );
    if (next !== value) changes[name] = next;
  }
  return { ...body, ...changes };
}

/** An update without the empty lists and maps that mean unset. */
function withoutEmpty(body: Body, fields: Readonly<Record<string, Field>>): Body {
  const isUnset = (name: string, value: unknown): boolean =>
    Object.hasOwn(fields, name) &&
    fields[name]?.write?.update === 'keeps_if_empty' &&
    typeof value === 'object' &&
    value !== null &&
    Object.keys(value).length === 0;
  const kept = Object.entries(body).filter(([name, value]) => !isUnset(name, value));
  return kept.length === 0 ? body : Object.fromEntries(kept);
}

/** A key that is not one of those at its place. */
export function unknownField(
  key: string,
  pointer: string,
  known: readonly string[],
  number: number = COMMON.unknownField,
): ApiProblem {
  const message = `Unknown field '${key}'; the fields are ${known.join(', ')}.`;
  return refusedValue(number, pointerTo(pointer, key), message);
}

/**
 * Validates a value. The first `unnamed` keys of a path are not part of the request, as for a module that is
 * sent alone.
 */
function checked(
  schema: z.ZodObject,
  body: Body,
  fields: Readonly<Record<string, Field>>,
  unnamed = 0,
): Body {
  const answer = schema.safeParse(body);
  if (answer.success) return answer.data;
  const issues = ownIssues(answer.error.issues);
  const issue = issues.find(({ code }) => code === 'unrecognized_keys') ?? issues[0]!;
  const pointer = issue.path.reduce<string>((path, key) => pointerTo(path, String(key)), '');
  const [name, below] = issue.path;
  const codes = name === undefined ? undefined : fields[String(name)]?.write?.codes;
  if (issue.code === 'unrecognized_keys') {
    const [key] = issue.keys as [string];
    const number = below === undefined ? numberBelow(codes, key) : undefined;
    throw unknownField(key, pointer, knownAt(schema, issue.path), number);
  }
  const isMissing = issue.path.length === 1 && !Object.hasOwn(body, String(name));
  const member = issue.path.findLast((key) => typeof key === 'string');
  const own = isMissing
    ? codes?.missing
    : (numberBelow(codes, String(below)) ?? numberBelow(codes, String(member)) ?? codes?.bad);
  const number = own ?? COMMON.badValue;
  const message = issueMessage(issue, body, issue.path.slice(unnamed), formAt(schema, issue.path));
  const more = issues.length > 1 ? { problems: String(issues.length) } : {};
  throw new ApiProblem(400, number, message, { pointer, ...more });
}

/** Without the range of exact whole numbers, which comes before that of the field, unless there is nothing else. */
function ownIssues(issues: readonly z.core.$ZodIssue[]): readonly z.core.$ZodIssue[] {
  const own = issues.filter((issue) => !('note' in issue));
  return own.length > 0 ? own : issues;
}

/** The error number for a key chosen by the client; looks only at own properties. */
function numberBelow(codes: FieldCodes | undefined, key: string): number | undefined {
  const below = codes?.below ?? {};
  return Object.hasOwn(below, key) ? below[key] : undefined;
}

/** The keys of the object at a path of a schema. */
function knownAt(schema: z.ZodType, path: readonly PropertyKey[]): string[] {
  const at = schemaAt(schema, path);
  return at instanceof z.ZodObject ? Object.keys(at.shape) : [];
}

/** What the texts at a path of a schema have to be. */
export function formAt(schema: z.ZodType, path: readonly PropertyKey[]): string | undefined {
  return schemaAt(schema, path)?.meta()?.['form'] as string | undefined;
}

/** The schema at a path of a schema, if it is one of objects, maps and lists. */
function schemaAt(schema: z.ZodType, path: readonly PropertyKey[]): z.ZodType | undefined {
  let at: unknown = schema;
  for (const key of ['', ...path]) {
    if (key !== '' && at instanceof z.ZodObject) at = at.shape[String(key)];
    else if (key !== '' && at instanceof z.ZodArray) at = at.element;
    else if (key !== '' && at instanceof z.ZodRecord) at = at.valueType;
    while (at instanceof z.ZodOptional || at instanceof z.ZodDefault) at = at.unwrap();
  }
  return at instanceof z.ZodType ? at : undefined;
}
