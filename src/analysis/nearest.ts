import type { EdgeConfig } from '../edge/document/schema.ts';
import type { Address } from '../net/address.ts';
import { addressFrom, isInside, numberOf } from './addresses.ts';
import { type Cell, cellsOf } from './cells.ts';
import { type Diagram, type Truth, whyTooLarge } from './diagram.ts';
import { domainOf, patternDfa } from './fields.ts';
import { Analysis, Model } from './model.ts';
import { type Assignment, Solver } from './relations.ts';
import { cellDiagram } from './routed.ts';
import { isOfRequest } from './setting.ts';
import { isAccepted } from './texts/automaton.ts';
import { type TextLiteral, shortestText } from './texts/intersect.ts';
import { eachClass } from './walk.ts';

/** A request as it is sent: the text or the values of a field, such as `path` or `header x-team`; undefined without it. */
export interface SentRequest {
  readonly valuesOf: (field: string) => string | readonly string[] | undefined;
  readonly client: Address;
}

/** What has to change in a request so that it may reach a part. */
export interface NearClass {
  /** New values of fields; none to leave one out. */
  readonly fields: ReadonlyMap<string, readonly string[]>;
  /** A new client address; null if the given one will do. */
  readonly client: string | null;
}

/** Classes of requests that may reach a part: together all that do. */
export interface Nearest {
  /** Those with the fewest changed fields first. */
  readonly classes: readonly NearClass[];
  /** No request with fewer changed fields reaches the part; null if that is not known. */
  readonly fewest: number | null;
}

/** The requests nearest to a given one that reach a rule, an action or a route. */
export function nearest(config: EdgeConfig, pointers: ReadonlySet<string>, sent: SentRequest): Nearest {
  const model = new Model(config, new Analysis());
  const known = new Set<string>();
  const classes: NearClass[] = [];
  let isWhole = true;
  for (const cell of cellsOf([model])) {
    const reach = reachOf(model, cell, pointers, known);
    if (reach === null) isWhole = false;
    if (reach === null || reach === model.analysis.diagrams.false) continue;
    // Requests get there from other endpoints, and how is not known.
    if (cell.isInternal) {
      isWhole = false;
      continue;
    }
    const solver = new Solver(cell.within);
    const isAll = eachClass(
      [reach],
      solver,
      ([node]) => node === model.analysis.diagrams.false,
      (assignment) => {
        const near = nearClass(cell, assignment, solver, sent);
        if (near === 'unknown') isWhole = false;
        else if (near !== 'none') classes.push(near);
      },
    );
    isWhole &&= isAll;
  }
  classes.sort((one, other) => changesIn(one) - changesIn(other));
  const isKnown = isWhole && [...pointers].every((pointer) => known.has(pointer)) && classes.length > 0;
  return { classes, fewest: isKnown ? changesIn(classes[0]!) : null };
}

function changesIn({ fields, client }: NearClass): number {
  return fields.size + (client === null ? 0 : 1);
}

/** The requests of a cell that reach one of the parts; null if they are too many to say. */
function reachOf(
  model: Model,
  cell: Cell,
  pointers: ReadonlySet<string>,
  known: Set<string>,
): Diagram<Truth> | null {
  const { diagrams } = model.analysis;
  let reach: Diagram<Truth> = diagrams.false;
  const add = (pointer: string, some: Diagram<Truth>): void => {
    if (!pointers.has(pointer)) return;
    known.add(pointer);
    reach = diagrams.or(reach, some);
  };
  const [routed] = cell.routed;
  if (typeof routed === 'object') add(routed.pipeline.pointer, diagrams.true);
  try {
    cellDiagram(model, cell, 0, 'own', add);
  } catch (error) {
    whyTooLarge(error);
    return null;
  }
  return reach;
}

/** The changes that bring a request into a class. */
function nearClass(
  { within }: Cell,
  assignment: Assignment,
  solver: Solver,
  { valuesOf, client }: SentRequest,
): NearClass | 'none' | 'unknown' {
  const values = solver.solve(assignment);
  if (values === 'none' || values === 'unknown') return values;
  const { texts, more, addresses } = values;
  const fields = new Map<string, readonly string[]>();
  for (const [field, text] of texts) {
    if (!isOfRequest(field)) continue;
    // The whole query and the cookies' field overlap with other fields, so changes could not be counted.
    if (field === 'req.url.query' || field === 'header cookie') return 'unknown';
    const own = valuesOf(field);
    const literals = [...within(field), ...literalsOf(field, assignment)];
    if (literals.every(({ dfa, accepted }) => isAccepted(dfa, own) === accepted)) continue;
    const written = text === null || !field.startsWith('header ') ? text : (plain(field, literals) ?? text);
    const all = written === null ? [] : [written, ...(more.get(field) ?? [])];
    // Both are the path: as it is sent, and in its canonical form.
    fields.set(field === 'req.url.raw_path' ? 'path' : field, all);
  }
  const isThere = isInside(addresses, numberOf(client));
  return { fields, client: isThere ? null : (addressFrom(addresses)?.text ?? null) };
}

/** Values of fields that every client can send (RFC 9110 §5.5): visible at both ends. */
const VISIBLE = patternDfa(String.raw`\A[!-~](?:[ -~]*[!-~])?\z`)!;

/** One value of a header field that is in the sets and can be sent by every client; null if none was found. */
function plain(field: string, literals: readonly TextLiteral[]): string | null {
  const found = shortestText([...literals, domainOf(field), { dfa: VISIBLE, accepted: true }]);
  return typeof found === 'object' && found.more.length === 0 ? found.text : null;
}

function literalsOf(field: string, assignment: Assignment): readonly TextLiteral[] {
  return assignment.flatMap(({ atom, value }) =>
    atom.kind === 'text' && atom.field.name === field ? [{ dfa: atom.dfa, accepted: value }] : [],
  );
}
