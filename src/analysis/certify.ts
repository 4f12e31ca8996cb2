import { BOOL } from '../cel/types.ts';
import { compile } from '../cel/program.ts';
import type { EdgeConfig } from '../edge/document/schema.ts';
import { scopeFor } from '../policy/env/scopes.ts';
import type { Certificate, Claim, Sent, Tree } from '../proof/certificate.ts';
import { type AddressSet } from './addresses.ts';
import type { Atom } from './atoms.ts';
import { SENT_HOST } from './authority.ts';
import { type Cell, cellsOf } from './cells.ts';
import type { Compared } from './diff.ts';
import { type Diagram, topOf, under } from './diagram.ts';
import { Analysis, Model } from './model.ts';
import { type Property, selected } from './prove.ts';
import { type Assignment, Solver } from './relations.ts';
import { cellDiagram } from './routed.ts';
import type { Dfa } from './texts/automaton.ts';
import { dfaOf } from './texts/dfa.ts';
import { type TextLiteral } from './texts/intersect.ts';
import { inAll, literals } from './texts/machine.ts';
import { CLASS_LIMIT, isDecidedByRequest } from './walk.ts';
import { witnessOf } from './witness.ts';

/** A proof cannot be written as a certificate, and why. */
export class NotCertified extends Error {
  override readonly name = 'NotCertified';
}

/** The certificate of a property that was proved. */
export function certifyProperty(
  config: EdgeConfig,
  property: Property,
  hashes: readonly string[],
): Certificate {
  const claim = { property };
  const model = new Model(config, new Analysis());
  const scope = scopeFor('on_http_request', { service: model.branding.service });
  const { program } = compile(property.where ?? 'true', scope, { wants: BOOL });
  if (program === undefined) throw new NotCertified('the property does not compile');
  const where = selected(model, program);
  return written(claim, hashes, [model], (cell) => [where, ...distinguished(model, cell, 0, 'own')]);
}

/** The certificate of two configurations that were proved equivalent. */
export function certifyEquivalence(
  before: Compared,
  after: Compared,
  hashes: readonly string[],
): Certificate {
  const analysis = new Analysis();
  const models = [before, after].map(({ config }) => new Model(config, analysis));
  return written({ equivalent: true }, hashes, models, (cell) =>
    models.flatMap((model, at) => distinguished(model, cell, at, 'either')),
  );
}

/** Outcomes, and which rules apply, even where that does not change the outcome. */
function distinguished(model: Model, cell: Cell, at: number, ambiguity: string): readonly Diagram<unknown>[] {
  const diagrams: Diagram<unknown>[] = [];
  diagrams.push(cellDiagram(model, cell, at, ambiguity, (_pointer, reach) => diagrams.push(reach)));
  return [...new Set(diagrams)];
}

function written(
  claim: Claim,
  hashes: readonly string[],
  models: readonly Model[],
  diagramsOf: (cell: Cell) => readonly Diagram<unknown>[],
): Certificate {
  const tests = new Tests();
  const hosts: { readonly test: number; readonly cells: Cell[] }[] = [];
  for (const cell of cellsOf(models)) {
    const test = tests.of('host', together(cell.within('host')));
    // The cells of a host follow each other.
    if (hosts.at(-1)?.test === test) hosts.at(-1)!.cells.push(cell);
    else hosts.push({ test, cells: [cell] });
  }
  const left = { count: CLASS_LIMIT };
  const pathsOf = (cells: readonly Cell[]): Tree =>
    cells.reduceRight<Tree>(
      (no, cell) => {
        const yes = classesOf(cell.isInternal ? [] : diagramsOf(cell), new Solver(cell.within), tests, left);
        return { test: tests.of('path', together(cell.within('path'))), yes, no };
      },
      { empty: 'path' },
    );
  const tree = hosts.reduceRight<Tree>((no, { test, cells }) => ({ test, yes: pathsOf(cells), no }), {
    request: { method: 'GET', url: 'https://host.invalid/', headers: [], clientIp: '203.0.113.9' },
  });
  return { format: 2, claim, hashes, tests: tests.all, tree };
}

/** The classes of a cell, by all questions of its diagrams. Both results of an opaque condition belong to one class. */
function classesOf(
  diagrams: readonly Diagram<unknown>[],
  solver: Solver,
  tests: Tests,
  left: { count: number },
): Tree {
  const walk = (nodes: readonly Diagram<unknown>[], assignment: Assignment): Tree => {
    const open = nodes.filter((node) => 'atom' in node);
    if (open.length === 0) return leafOf(solver, assignment, left);
    const atom = topOf(open);
    const sides = (['yes', 'no'] as const).map((side) => nodes.map((node) => under(node, atom, side)));
    // The checker does not know what the host as sent says of the host.
    if (atom.kind === 'opaque' || !isDecidedByRequest(atom) || atom.field.name === SENT_HOST)
      return walk([...new Set(sides.flat())], assignment);
    const [yes, no] = sides.map((side, at): Tree => {
      const extended = [...assignment, { atom, value: at === 0 }];
      return solver.isImpossible(extended, atom) ? { empty: atom.field.name } : walk(side, extended);
    }) as [Tree, Tree];
    return { test: tests.of(atom.field.name, automatonOf(atom)), yes, no };
  };
  return walk(diagrams, []);
}

function leafOf(solver: Solver, assignment: Assignment, left: { count: number }): Tree {
  if (left.count-- <= 0) throw new NotCertified(`there are more than ${CLASS_LIMIT} classes of requests`);
  const values = solver.solve(assignment);
  if (values === 'none') {
    const empty = ['host', 'path'].find((field) => solver.text(field, assignment) === 'none');
    const by = assignment.find(({ atom }) => solver.isImpossible(assignment, atom))?.atom.field.name;
    return { empty: by ?? empty ?? 'path' };
  }
  const witness = values === 'unknown' ? null : witnessOf(values);
  if (witness === null) throw new NotCertified('no request was found for a class');
  const { method, url, headers, clientIp } = witness;
  return { request: { method, url, headers, clientIp } satisfies Sent };
}

/** The sets that divide requests, each once. */
class Tests {
  readonly all: { readonly field: string; readonly table: Certificate['tests'][number]['table'] }[] = [];
  readonly #numbers = new Map<string, number>();

  of(field: string, dfa: Dfa): number {
    const name = `${field} ${dfa.key}`;
    let number = this.#numbers.get(name);
    if (number === undefined) {
      const table = { starts: dfa.starts, next: [...dfa.next], accepts: [...dfa.accepts] };
      number = this.all.push({ field, table }) - 1;
      this.#numbers.set(name, number);
    }
    return number;
  }
}

function together(sets: readonly TextLiteral[]): Dfa {
  return dfaOf(inAll(sets)) ?? tooLarge();
}

function automatonOf(atom: Exclude<Atom, { readonly kind: 'opaque' }>): Dfa {
  if (atom.kind === 'text') return atom.dfa;
  return dfaOf(literals(prefixesOf(atom.set), 'prefix')) ?? tooLarge();
}

function tooLarge(): never {
  throw new NotCertified('a set of texts or addresses is too large to be written');
}

const V6 = 1n << 32n;

/** Ranges of addresses as the digit of their version and their first bits. */
function prefixesOf(set: AddressSet): readonly string[] {
  const prefixes: string[] = [];
  for (let at = 0; at < set.length; at += 2) {
    for (let from = set[at]!; from < set[at + 1]!;) {
      const [version, base, width] = from < V6 ? (['4', 0n, 32] as const) : (['6', V6, 128] as const);
      const end = set[at + 1]! < V6 || from >= V6 ? set[at + 1]! : V6;
      let bits: number = width;
      const start = from - base;
      // The largest range that begins here and ends in time.
      while (
        bits > 0 &&
        start % (1n << BigInt(width - bits + 1)) === 0n &&
        from + (1n << BigInt(width - bits + 1)) <= end
      )
        bits--;
      prefixes.push(`${version}${start.toString(2).padStart(width, '0').slice(0, bits)}`);
      from += 1n << BigInt(width - bits);
    }
  }
  return prefixes;
}
