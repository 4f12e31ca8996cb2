import { suggest } from '../diagnostics/suggest.ts';
import type { Property } from './prove.ts';

/** What a parameter of a ready-made property can be. */
export const KINDS = {
  backend: 'name of a backend',
  path: 'a path, with everything below it if the property says so',
  ranges: 'list of ranges in CIDR notation',
  gates: 'list of modules and actions; `login` is any login',
  method: 'a request method',
  header: 'name of a header',
} as const;

type ParameterKind = keyof typeof KINDS;

type Values = Readonly<Record<string, string & readonly string[]>>;

interface ReadyProperty {
  /** With its parameters in braces, as the name of a property that has none. */
  readonly message: string;
  readonly parameters: Readonly<Record<string, ParameterKind>>;
  readonly property: (values: Values) => Omit<Property, 'name'>;
}

/** Properties that most edges should have. */
// table: ready-made properties
const PROPERTIES = {
  'backend-needs-login': {
    message: 'no client reaches {backend} without a login',
    parameters: { backend: 'backend' },
    property: ({ backend }) => ({ never: { end: 'forwarded', backend: backend!, without: ['login'] } }),
  },
  'backend-needs-gate': {
    message: 'no client reaches {backend} without one of {gates}',
    parameters: { backend: 'backend', gates: 'gates' },
    property: ({ backend, gates }) => ({ never: { end: 'forwarded', backend: backend!, without: gates! } }),
  },
  'backend-only-from': {
    message: '{backend} is reached from {ranges} only',
    parameters: { backend: 'backend', ranges: 'ranges' },
    property: ({ backend, ranges }) => ({
      where: `!${from(ranges!)}`,
      never: { end: 'forwarded', backend: backend! },
    }),
  },
  'backend-unused': {
    message: 'no client reaches {backend}',
    parameters: { backend: 'backend' },
    property: ({ backend }) => ({ never: { end: 'forwarded', backend: backend! } }),
  },
  'path-needs-login': {
    message: 'no client reaches a backend under {path} without a login',
    parameters: { path: 'path' },
    property: ({ path }) => ({ where: below(path!), never: { end: 'forwarded', without: ['login'] } }),
  },
  'path-needs-gate': {
    message: 'no client reaches a backend under {path} without one of {gates}',
    parameters: { path: 'path', gates: 'gates' },
    property: ({ path, gates }) => ({ where: below(path!), never: { end: 'forwarded', without: gates! } }),
  },
  'path-only-from': {
    message: '{path} is reached from {ranges} only',
    parameters: { path: 'path', ranges: 'ranges' },
    property: ({ path, ranges }) => ({
      where: `(${below(path!)}) && !${from(ranges!)}`,
      never: { end: 'forwarded' },
    }),
  },
  'path-closed': {
    message: 'no request under {path} reaches a backend',
    parameters: { path: 'path' },
    property: ({ path }) => ({ where: below(path!), never: { end: 'forwarded' } }),
  },
  'path-needs-header': {
    message: 'no request without the header {header} reaches a backend under {path}',
    parameters: { path: 'path', header: 'header' },
    property: ({ path, header }) => ({
      where: `(${below(path!)}) && !hasReqHeader(${quoted(header!)})`,
      never: { end: 'forwarded' },
    }),
  },
  'never-blocked': {
    message: 'no request from {ranges} is blocked',
    parameters: { ranges: 'ranges' },
    property: ({ ranges }) => ({ where: from(ranges!), never: { end: 'blocked' } }),
  },
  'path-never-blocked': {
    message: 'no request under {path} is blocked',
    parameters: { path: 'path' },
    property: ({ path }) => ({ where: below(path!), never: { end: 'blocked' } }),
  },
  'always-answers': {
    message: '{path} always gets a response from its backend, without a login',
    parameters: { path: 'path' },
    property: ({ path }) => ({ where: `req.url.path == ${quoted(path!)}`, never: { end: 'stopped' } }),
  },
  'https-only': {
    message: 'no request without TLS reaches a backend',
    parameters: {},
    property: () => ({ where: "req.url.scheme == 'http'", never: { end: 'forwarded' } }),
  },
  'method-closed': {
    message: 'no {method} request reaches a backend',
    parameters: { method: 'method' },
    property: ({ method }) => ({ where: `req.method == ${quoted(method!)}`, never: { end: 'forwarded' } }),
  },
} as const satisfies Readonly<Record<string, ReadyProperty>>;

export const READY_PROPERTIES: Readonly<Record<string, ReadyProperty>> = PROPERTIES;

export type ReadyPropertyName = keyof typeof PROPERTIES;

/** The parameters of a ready-made property by name: lists of ranges and gates, and texts. */
export type ReadyParameters<Name extends ReadyPropertyName> = {
  readonly [
    Key in keyof (typeof PROPERTIES)[Name]['parameters']
  ]: (typeof PROPERTIES)[Name]['parameters'][Key] extends 'ranges' | 'gates' ? readonly string[] : string;
};

/** Parameters that are lists. */
export const LISTS: ReadonlySet<ParameterKind> = new Set(['ranges', 'gates']);

/**
 * A ready-made property with its parameters; `name` is what it says, if it has no other. Throws a TypeError for a name or
 * parameters that it does not have.
 */
export function readyProperty<Name extends ReadyPropertyName>(
  use: Name,
  values: ReadyParameters<Name>,
  name?: string,
): Property {
  if (!Object.hasOwn(PROPERTIES, use)) {
    const names = Object.keys(PROPERTIES);
    const meant = suggest(use, names) ?? `one of ${names.join(', ')}`;
    throw new TypeError(`no ready-made property is called '${use}'; did you mean ${meant}?`);
  }
  const wanted: ReadyProperty['parameters'] = PROPERTIES[use].parameters;
  for (const [key, kind] of Object.entries(wanted)) {
    const value = (values as Readonly<Record<string, unknown>>)[key];
    const isRight = LISTS.has(kind) ? Array.isArray(value) : typeof value === 'string';
    if (!isRight) throw new TypeError(`'${use}' needs the parameter '${key}': ${KINDS[kind]}`);
  }
  for (const key of Object.keys(values))
    if (!Object.hasOwn(wanted, key)) throw new TypeError(`'${use}' has no parameter '${key}'`);
  return namedProperty(use, values, name);
}

/** The same for parameters of a file, which were checked. */
export function namedProperty(
  use: string,
  values: Readonly<Record<string, string | readonly string[]>>,
  name?: string,
): Property {
  const { message, property } = READY_PROPERTIES[use]!;
  const said = message.replaceAll(/\{(\w+)\}/g, (_, key: string) => [values[key] ?? []].flat().join(', '));
  return { name: name ?? said, ...property(values as Values) };
}

function quoted(text: string): string {
  return JSON.stringify(text);
}

function from(ranges: readonly string[]): string {
  return `inCidrRanges(conn.client_ip, [${ranges.map((range) => quoted(range)).join(', ')}])`;
}

function below(path: string): string {
  const folder = path.endsWith('/') ? path : `${path}/`;
  return `req.url.path == ${quoted(path)} || req.url.path.startsWith(${quoted(folder)})`;
}
