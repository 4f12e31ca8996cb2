import { pointerTo } from '../../diagnostics/diagnostic.ts';
import { EDGE_FILE_KEYS, edgeFile } from '../../edge/document/schema.ts';
import type { Body } from '../resources/contract.ts';
import { parseValue, unknownField } from '../resources/parse.ts';
import { ApiProblem, COMMON } from '../resources/problem.ts';
import { EDGE_FAMILIES } from './edge_file_names.ts';

/** The maps of objects by name in an edge file. */
const MAPS = ['certificate_authorities', 'tls_certificates', 'ip_policies', 'backends'];
/** Values of backends that name other backends. */
const GROUPS: Readonly<Record<string, Reader>> = { weighted: objectAt, failover: namesAt };

type Reader = (value: unknown, pointer: string) => unknown;

/**
 * Refuses other keys than these: what a file does not have is deleted, so a misspelled key would delete what it
 * was meant to have.
 */
function checkKeys(object: Body, known: readonly string[], pointer: string): void {
  const unknown = Object.keys(object).find((key) => !known.includes(key));
  if (unknown !== undefined) throw unknownField(unknown, pointer, known);
}

/** Refuses an edge file whose parts are not the objects and lists that applying it walks through. */
export function checkShape(document: Body): void {
  checkKeys(document, EDGE_FILE_KEYS, '');
  checkUnstored(document);
  const isMap = (key: string): boolean => document[key] !== undefined && document[key] !== null;
  for (const key of MAPS.filter(isMap))
    for (const each of membersAt(document[key], `/${key}`)) checkMember(key, each);
  if (!isMap('edges')) return;
  const families = objectAt(document['edges'], '/edges');
  const names = EDGE_FAMILIES.map(([family]) => family);
  checkKeys(families, names, '/edges');
  for (const [family] of EDGE_FAMILIES) {
    const edges = families[family] ?? {};
    for (const { value, pointer } of membersAt(edges, `/edges/${family}`))
      listAt(value['routes'], `${pointer}/routes`);
  }
}

/** Keys that no object is made of, so that nothing else checks their values. */
const unstored = edgeFile.pick({ address_databases: true, service_name: true, properties: true });

function checkUnstored(document: Body): void {
  const given = Object.entries(document).filter(([key]) => Object.hasOwn(unstored.shape, key));
  parseValue(unstored, Object.fromEntries(given), {});
}

interface Member {
  readonly value: Body;
  readonly pointer: string;
}

function checkMember(key: string, { value, pointer }: Member): void {
  if (key === 'ip_policies') listAt(value['rules'], `${pointer}/rules`);
  if (key !== 'backends') return;
  for (const [name, read] of Object.entries(GROUPS)) {
    if (Object.hasOwn(value, name)) read(value[name], `${pointer}/${name}`);
  }
}

function membersAt(value: unknown, pointer: string): Member[] {
  return Object.entries(objectAt(value, pointer)).map(([name, each]) => {
    const at = pointerTo(pointer, name);
    return { value: objectAt(each, at), pointer: at };
  });
}

function objectAt(value: unknown, pointer: string): Body {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw wrong('an object', pointer);
  return value as Body;
}

/** A list of objects; absent is an empty one. */
function listAt(value: unknown, pointer: string): void {
  if (value === undefined) return;
  if (!Array.isArray(value)) throw wrong('a list', pointer);
  for (const [index, each] of value.entries()) objectAt(each, `${pointer}/${index}`);
}

function namesAt(value: unknown, pointer: string): void {
  const areNames = Array.isArray(value) && value.every((each) => typeof each === 'string');
  if (!areNames) throw wrong('a list of names', pointer);
}

function wrong(form: string, pointer: string): ApiProblem {
  return new ApiProblem(400, COMMON.badValue, `The value at ${pointer} must be ${form}.`, { pointer });
}
