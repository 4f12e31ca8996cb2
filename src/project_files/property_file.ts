import type { PropertyCode } from './property_codes.ts';
import { LISTS, READY_PROPERTIES, namedProperty } from '../analysis/ready_properties.ts';
import type { Property } from '../analysis/prove.ts';
import type { ShapeCode } from '../config_file/codes.ts';
import { readDocument } from '../config_file/read.ts';
import { errorsTo } from '../config_file/report.ts';
import type { Shape } from '../config_file/shape.ts';
import { reportDepartures } from '../config_file/shape_messages.ts';
import { shaped } from '../config_file/validate.ts';
import { meantWord } from '../diagnostics/meant.ts';
import { type Diagnostic, type Source, hasErrors, pointerTo } from '../diagnostics/diagnostic.ts';
import type { More, Report } from '../diagnostics/report.ts';
import { suggest } from '../diagnostics/suggest.ts';
import type { Checked, Checking } from '../edge/document/check.ts';
import { EDGE_SHAPE } from '../edge/document/report.ts';
import { ACTION_FACTS, MODULE_FACTS } from '../filters/table.ts';
import { isCidrProblem, parseCidr } from '../net/cidr.ts';

const PROPERTY_FILE = {
  called: 'a property file',
  keys: '`edge` and `properties`',
  smallest: 'a minimal property file has a list of `properties`',
  prefix: 'property',
};

/** The properties in an edge file of this shape; the edge does not know which ready-made ones there are. */
export function propertiesShape({ properties: all = {} }: Shape): Shape {
  const { items, ...list } = all['properties'] ?? {};
  const { properties: members = {}, ...item } = items ?? {};
  const use = { ...members['use'], enum: Object.keys(READY_PROPERTIES) };
  return { ...list, items: { ...item, properties: { ...members, use } } };
}

/** Statements about all requests of an edge, with those of an edge file of this shape. */
export function propertyFileShape(edgeFile: Shape): Shape {
  return {
    type: 'object',
    required: ['properties'],
    additionalProperties: false,
    properties: {
      edge: {
        type: 'string',
        minLength: 1,
        description: 'The edge file that the properties are about, relative to this file.',
      },
      properties: { ...propertiesShape(edgeFile), description: 'Statements about every request.' },
    },
  };
}

const PROPERTY_SHAPE = propertyFileShape(EDGE_SHAPE);

/** The properties of a file, or what is wrong with it. */
export interface PropertyFile {
  /** The edge file that it names. */
  readonly edge: string | null;
  readonly properties: readonly Property[] | null;
  readonly diagnostics: readonly Diagnostic[];
}

interface Written extends Partial<Property> {
  readonly use?: string;
  readonly with?: Parameters;
}

type Parameters = Readonly<Record<string, string | readonly string[]>>;

export function readProperties(source: Source): PropertyFile {
  const { document, diagnostics } = readDocument(source, PROPERTY_FILE);
  if (document === null) return { edge: null, properties: null, diagnostics };
  const found: Diagnostic[] = [...diagnostics];
  const report = errorsTo<ShapeCode | PropertyCode>(found, document, PROPERTY_FILE.prefix);
  const value = shaped(PROPERTY_SHAPE, document.value, '', reportDepartures(report)) as
    | { readonly edge?: string; readonly properties?: readonly unknown[] }
    | undefined;
  const properties = (value?.properties ?? []).flatMap((written, at) =>
    isWhole(written) ? (propertyOf(written, `/properties/${at}`, report) ?? []) : [],
  );
  return {
    edge: value?.edge ?? null,
    properties: hasErrors(found) ? null : properties,
    diagnostics: found,
  };
}

/** Checks what an edge file states about itself. */
export function checkProperties({ config, document }: Checking): readonly Diagnostic[] {
  const found: Diagnostic[] = [];
  const report = errorsTo<PropertyCode>(found, document, PROPERTY_FILE.prefix);
  const { properties = [] } = config as { readonly properties?: readonly unknown[] };
  for (const [at, written] of properties.entries())
    if (isWhole(written)) propertyOf(written, `/properties/${at}`, report);
  return found;
}

/** What an edge file without errors states about itself. */
export function propertiesIn({ properties }: Pick<Checked, 'properties'>): readonly Property[] {
  return properties.flatMap((written) => (isWhole(written) ? (propertyOf(written, '', () => {}) ?? []) : []));
}

/** Whether no part of a property is invalid: those are undefined, and were reported. */
function isWhole(value: unknown): value is Written {
  if (typeof value !== 'object' || value === null) return value !== undefined;
  return Object.values(value).every((each) => isWhole(each));
}

function propertyOf(written: Written, pointer: string, report: Report<PropertyCode>): Property | null {
  const { name, where, never, use, with: given = {} } = written;
  if (use === undefined) {
    if (never === undefined)
      report('no_statement', pointer, 'a property needs `never`, or a ready-made one with `use`');
    else if (name === undefined)
      report('no_name', pointer, 'a property needs a `name`: the statement as a sentence');
    else {
      checkGates(never.without ?? [], `${pointer}/never/without`, report);
      return { name, ...(where !== undefined && { where }), never };
    }
    return null;
  }
  if (never !== undefined || where !== undefined) {
    const message = '`use` is a whole statement: remove `where` and `never`, or write them without `use`';
    report('two_statements', pointerTo(pointer, 'use'), message);
    return null;
  }
  if (!Object.hasOwn(READY_PROPERTIES, use)) {
    const message = `there is no ready-made property '${use}'`;
    report(
      'unknown_use',
      pointerTo(pointer, 'use'),
      message,
      meantWord(suggest(use, Object.keys(READY_PROPERTIES))),
    );
    return null;
  }
  return areParameters(use, given, pointer, report) ? namedProperty(use, given, name) : null;
}

function areParameters(
  use: string,
  given: Parameters,
  pointer: string,
  report: Report<PropertyCode>,
): boolean {
  const { parameters } = READY_PROPERTIES[use]!;
  const at = pointerTo(pointer, 'with');
  let isGood = true;
  const wrong = (where: string, message: string, more?: More): void => {
    isGood = false;
    report('bad_parameter', where, message, more);
  };
  for (const name of Object.keys(given)) {
    if (Object.hasOwn(parameters, name)) continue;
    const known = Object.keys(parameters);
    const has = known.length === 0 ? 'no parameters' : `the parameters ${known.join(' and ')}`;
    wrong(pointerTo(at, name), `${use} has no parameter '${name}'; it has ${has}`, {
      at: 'key',
      ...meantWord(suggest(name, known)),
    });
  }
  for (const [name, kind] of Object.entries(parameters)) {
    const value = given[name];
    const own = pointerTo(at, name);
    if (value === undefined) wrong(at, `${use} needs the parameter \`${name}\``);
    else if (LISTS.has(kind) !== Array.isArray(value))
      wrong(own, `\`${name}\` is ${LISTS.has(kind) ? 'a list' : 'one text'}`);
    else if (kind === 'path' && !String(value).startsWith('/')) wrong(own, 'a path begins with a slash');
    else if (kind === 'gates') isGood = checkGates(value as readonly string[], own, report) && isGood;
    else if (kind === 'ranges')
      for (const [index, range] of (value as readonly string[]).entries())
        if (isCidrProblem(parseCidr(range)))
          wrong(pointerTo(own, index), `'${range}' is not a range in CIDR notation, such as 10.0.0.0/8`);
  }
  return isGood;
}

const GATES = new Map<string, object | null>([['login', null], ...MODULE_FACTS, ...ACTION_FACTS]);

/** The gates that properties can name. */
export const NAMED_GATES: readonly string[] = Array.from(GATES).flatMap(([gate, facts]) =>
  facts !== null && subjectOf(facts) !== null ? [] : [gate],
);

/** Whether these are modules and actions that requests can be known to have passed: a property about others says nothing. */
function checkGates(gates: readonly string[], pointer: string, report: Report<PropertyCode>): boolean {
  let isGood = true;
  for (const [at, gate] of gates.entries()) {
    const facts = GATES.get(gate);
    const subject = facts && subjectOf(facts);
    if (subject === null) continue;
    isGood = false;
    const where = pointerTo(pointer, at);
    if (subject === undefined) {
      const message = `'${gate}' is not a module, an action or \`login\``;
      report('unknown_gate', where, message, meantWord(suggest(gate, NAMED_GATES)));
    } else {
      const message = `'${gate}' is known by whom it lets through, not by its name`;
      report('gate_without_name', where, message, {
        hint: `state the ${subject} of those who may pass: ${CURES[subject]}`,
      });
    }
  }
  return isGood;
}

type Subject = 'addresses' | 'user agents';

const CURES: Readonly<Record<Subject, string>> = {
  addresses: '`use: backend-only-from`, or `conn.client_ip` in `where`',
  'user agents': '`req.user_agent.raw` in `where`',
};

/** What a gate asks of a request, if the analysis knows it exactly; null if it is known by its name. */
function subjectOf(facts: object): Subject | null {
  if ('addressLists' in facts) return 'addresses';
  return 'patternLists' in facts ? 'user agents' : null;
}
