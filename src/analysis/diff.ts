import { grouped } from '../diagnostics/message_text.ts';
import type { EdgeFixture } from '../coverage/edge_fixture.ts';
import type { Locate } from '../edge/explain.ts';
import { type Cell, cellsOf } from './cells.ts';
import { type Diagram, whyTooLarge } from './diagram.ts';
import { Analysis, Model, canonical } from './model.ts';
import { type Outcome, outcomeKey } from './outcome.ts';
import { type Difference, judgedCell } from './judge.ts';
import { Solver } from './relations.ts';
import { areAlike, cellDiagram } from './routed.ts';
import { CHANGES, type ChangedRegion, type Comparison, type UndecidedRegion } from './comparison.ts';
import { CLASS_LIMIT, eachClass } from './walk.ts';
import type { EdgeConfig } from '../edge/document/schema.ts';

/** A configuration to compare. */
export interface Compared {
  readonly config: EdgeConfig;
  readonly locate?: Locate;
}

/** Compares a configuration with one; `fixture` is its prepared edge, if there is one already. */
export type Comparer = (after: Compared, fixture?: EdgeFixture) => Comparison;

/** Atoms and diagrams of so many comparisons are kept together. */
const SHARED_LIMIT = 50;

/** Compares many configurations with one, which is analysed once for many of them. */
export function comparer({ config, locate }: Compared, fixture?: EdgeFixture): Comparer {
  let older: Model | null = null;
  let count = 0;
  return (after, prepared) => {
    if (older === null || count++ === SHARED_LIMIT) {
      older = new Model(config, new Analysis(), locate, fixture);
      count = 0;
    }
    return compareModels([older, new Model(after.config, older.analysis, after.locate, prepared)]);
  };
}

/**
 * Compares what two configurations do with every request. Every change is shown by a request that the engine decides
 * differently; equivalence is claimed only if no class of requests is left over.
 */
export function compare(before: Compared, after: Compared): Comparison {
  return comparer(before)(after);
}

function compareModels(models: readonly [Model, Model]): Comparison {
  const changes: ChangedRegion[] = [];
  const undecided: UndecidedRegion[] = [...unanalysed(models[0], models[1])];
  const cells = { all: 0, compared: 0 };
  const ambiguous = new Set<string>();
  for (const cell of cellsOf(models)) {
    // What other endpoints do differently shows where requests are forwarded to them.
    if (cell.isInternal) continue;
    cells.all++;
    noteAmbiguity(cell, models, ambiguous);
    if (isAlike(cell, models)) continue;
    cells.compared++;
    compareCell(cell, models, { changes, undecided });
  }
  for (const where of ambiguous)
    undecided.push({
      where,
      conditions: [],
      reasons: ['whether a path with several spellings is refused as ambiguous'],
    });
  const verdict = changes.length > 0 ? 'different' : undecided.length > 0 ? 'undecided' : 'equivalent';
  changes.sort(byWeight);
  return { verdict, changes, undecided, cells };
}

/** Kinds of changes in their order, the largest region of each first. */
export function byWeight(one: ChangedRegion, other: ChangedRegion): number {
  const kinds = CHANGES.indexOf(one.change) - CHANGES.indexOf(other.change);
  if (kinds !== 0) return kinds;
  const [here, there] = [one, other].map(({ size: { addresses } }) => addresses.v4 + addresses.v6);
  return here! > there! ? -1 : here! < there! ? 1 : 0;
}

/** Edges with other routes may refuse other spellings; that is one question for all of their cells. */
function noteAmbiguity({ edges }: Cell, models: readonly Model[], ambiguous: Set<string>): void {
  const [one, other] = edges;
  if (one === null || one === undefined || other === null || other === undefined) return;
  if (models[0]!.selectors(one) !== models[1]!.selectors(other)) ambiguous.add(`edge ${other}`);
}

function isAlike({ routed }: Cell, [before, after]: readonly [Model, Model]): boolean {
  const [one, other] = routed;
  if (typeof one === 'object' && typeof other === 'object') return areAlike(one, before, other, after);
  return one === other && before.naming === after.naming;
}

interface Found {
  readonly changes: ChangedRegion[];
  readonly undecided: UndecidedRegion[];
}

function compareCell(cell: Cell, models: readonly [Model, Model], found: Found): void {
  let diagrams: readonly Diagram<Outcome>[];
  try {
    diagrams = models.map((model, at) => cellDiagram(model, cell, at, 'either'));
  } catch (error) {
    found.undecided.push({ where: cell.message, conditions: [], reasons: [whyTooLarge(error)] });
    return;
  }
  const groups = new Map<string, Difference[]>();
  const solver = new Solver(cell.within);
  const isWhole = eachClass(diagrams, solver, isSame, (assignment, [old, next]) => {
    const difference = { assignment, before: old!, after: next! };
    const key = `${outcomeKey(difference.before)} → ${outcomeKey(difference.after)}`;
    groups.set(key, [...(groups.get(key) ?? []), difference]);
  });
  const judged = judgedCell({ cell, models, solver }, [...groups.values()]);
  found.changes.push(...judged.changes);
  found.undecided.push(...judged.undecided);
  if (!isWhole)
    found.undecided.push({
      where: cell.message,
      conditions: [],
      reasons: [`more than ${grouped(CLASS_LIMIT)} classes of requests differ`],
    });
}

const isSame = ([one, other]: readonly unknown[]): boolean => one === other;

/** Parts of a configuration that no class of requests describes: if they differ, so may what they are for. */
const PARTS: readonly (readonly [where: string, of: (config: EdgeConfig) => unknown, reason: string])[] = [
  ['TLS edges', ({ edges }) => [edges.tls], 'connections without HTTP are not analysed'],
  ['TCP edges', ({ edges }) => [edges.tcp], 'connections without HTTP are not analysed'],
  [
    'handshakes',
    ({ tls_certificates: all }) => Object.values(all).map(shownCertificate),
    'certificates are not analysed',
  ],
];

/** What clients see of a certificate: its private key follows from it. */
function shownCertificate(certificate: EdgeConfig['tls_certificates'][string]): unknown {
  return certificate.certificate_pem ?? certificate;
}

/** What the comparison of two configurations leaves out although it differs. */
function unanalysed(before: Model, after: Model): readonly UndecidedRegion[] {
  const differing = PARTS.filter(([, of]) => canonical(of(before.config)) !== canonical(of(after.config)));
  const regions = differing.map(([where, , reason]) => ({ where, conditions: [], reasons: [reason] }));
  // TLS and TCP edges use the same backends and policies.
  const { tls, tcp } = after.config.edges;
  const hasStreams = Object.keys(tls).length + Object.keys(tcp).length > 0;
  if (hasStreams && before.circumstances !== after.circumstances && regions.length === 0)
    regions.push({
      where: 'TLS and TCP edges',
      conditions: [],
      reasons: ['connections without HTTP are not analysed'],
    });
  if (before.logins !== after.logins)
    regions.push({
      where: 'logins',
      conditions: [],
      reasons: ["paths on the service's own host are not analysed"],
    });
  return regions;
}
