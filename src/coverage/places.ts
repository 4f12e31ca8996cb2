import type { Source, Span } from '../diagnostics/diagnostic.ts';
import { type Lines, linesOf, positionAt } from '../diagnostics/lines.ts';
import { brandingOf } from '../engine/branding.ts';
import type { EdgeConfig } from '../edge/document/schema.ts';
import { AROUND_POLICY } from '../edge/policy_places.ts';
import { type LocatedDocument, writtenAt } from '../config_file/document.ts';
import { checkPolicy, checkPolicyAt } from '../policy/document/check.ts';
import type { PolicyDocument } from '../policy/document/document.ts';
import type { CoveragePoint } from './point.ts';
import { placedAll } from './placed_routes.ts';

/** The place of a point in a file; lines and columns from 1. */
export interface PointPlace {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** Offsets in the file; null if only the line is known. */
  readonly span: Span | null;
}

export type LocatePoint = (point: Pick<CoveragePoint, 'pointer' | 'span'>) => PointPlace | null;

/** The source of an edge under test. */
export type EdgeSource =
  /** An edge file. */
  | {
      readonly of: 'edge';
      readonly source: Source;
      /** Parts of it may be in other files. */
      readonly document: LocatedDocument;
    }
  /** A policy file, placed on a route of its own. */
  | { readonly of: 'policy'; readonly source: Source }
  /** Inside a scenario file, at a pointer there. */
  | {
      readonly of: 'scenario';
      readonly file: string;
      readonly at: string;
      readonly lineOf: (pointer: string) => number;
    };

/** Finds the places of points. */
export function pointLocator(config: EdgeConfig, from: EdgeSource): LocatePoint {
  if (from.of === 'scenario') return scenarioLocator(from);
  const policies = policiesOf(config, from);
  const lines = new Map<Source, Lines>();
  return ({ pointer, span }) => {
    const found = inPolicies(policies, pointer, span) ?? (from.of === 'edge' ? inEdge(from, pointer) : null);
    if (found === null) return null;
    const { source, span: place } = found;
    let own = lines.get(source);
    if (own === undefined) lines.set(source, (own = linesOf(source.text)));
    return { file: source.name, ...positionAt(own, place.start), span: place };
  };
}

/** A span in one of the files that an edge was made of. */
interface Found {
  readonly source: Source;
  readonly span: Span;
}

function inEdge({ document }: Extract<EdgeSource, { of: 'edge' }>, pointer: string): Found | null {
  const { source } = writtenAt(document, pointer).document;
  const span = document.keySpanOf(pointer) ?? document.spanOf(pointer);
  return source === undefined || span === undefined ? null : { source, span };
}

function scenarioLocator({ file, at, lineOf }: Extract<EdgeSource, { of: 'scenario' }>): LocatePoint {
  return ({ pointer }) => {
    const inside = pointer.startsWith(AROUND_POLICY) ? pointer.slice(AROUND_POLICY.length) : pointer;
    const line = lineOf(at + inside);
    return line > 0 ? { file, line, column: 1, span: null } : null;
  };
}

/** What the pointer of a route's policy ends with. */
const POLICY = '/traffic_policy/value';

interface PlacedPolicy {
  readonly document: PolicyDocument;
  /** Prefix of the pointers in the document. */
  readonly at: string;
}

/** Policies by their pointers: those of points below one belong to it. */
type PlacedPolicies = ReadonlyMap<string, PlacedPolicy>;

function policiesOf(config: EdgeConfig, from: Exclude<EdgeSource, { of: 'scenario' }>): PlacedPolicies {
  const branding = brandingOf(config.service_name);
  const policies = placedAll(config).flatMap(({ pointer, route, kind }): [string, PlacedPolicy][] => {
    const text = route.traffic_policy?.value;
    if (text === undefined) return [];
    const below = `${pointer}${POLICY}`;
    if (from.of === 'policy') {
      const { document } = checkPolicy(from.source, { branding });
      return document === null ? [] : [[below, { document, at: '' }]];
    }
    const { document } = checkPolicyAt(from.document, below, text, { branding, attachedTo: `${kind}_edge` });
    return document === null ? [] : [[below, { document, at: below }]];
  });
  return new Map(policies);
}

function inPolicies(policies: PlacedPolicies, pointer: string, within: Span | null): Found | null {
  const end = pointer.indexOf(POLICY) + POLICY.length;
  const policy = policies.get(pointer.slice(0, end));
  const source = policy?.document.source;
  if (policy === undefined || source === undefined) return null;
  // Older spellings have other pointers: the surrounding place is good enough.
  for (let at = policy.at + pointer.slice(end); at !== ''; at = at.slice(0, at.lastIndexOf('/'))) {
    const text = within === null ? undefined : textAt(policy.document, at);
    const place = policy.document.placeOf(at, text);
    if (place === undefined) continue;
    const span = within === null || place.map === undefined ? place.span : place.map.spanOf(within);
    return { source, span };
  }
  return null;
}

/** The text of a rule's expression, in which offsets count. */
function textAt({ phases }: PolicyDocument, pointer: string): string | undefined {
  for (const rules of Object.values(phases)) {
    for (const { expressions } of rules) {
      const found = expressions.find((each) => each.pointer === pointer);
      if (found !== undefined) return found.text;
    }
  }
  return undefined;
}
