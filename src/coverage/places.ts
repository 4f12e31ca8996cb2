import type { Source, Span } from '../diagnostics/diagnostic.ts';
import { type Lines, linesOf, positionAt } from '../diagnostics/lines.ts';
import { brandingOf } from '../engine/branding.ts';
import type { EdgeConfig } from '../edge/document/schema.ts';
import { AROUND_POLICY } from '../edge/policy_places.ts';
import { type LocatedDocument, writtenAt } from '../config_file/document.ts';
import { heldDocument } from '../policy/document/checked_policies.ts';
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
  const policies = policiesOf(config);
  const lines = new Map<Source, Lines>();
  return ({ pointer, span }) => {
    const around = () => (from.of === 'edge' ? inEdge(from, pointer) : wholePolicy(policies, from.source));
    const found = inPolicies(policies, pointer, span) ?? around();
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

/** Where a policy begins: the place of what is made around it and the user has not written. */
function wholePolicy(policies: PlacedPolicies, source: Source): Found {
  const policy = policies.get(AROUND_POLICY);
  return { source, span: policy?.placeOf(AROUND_POLICY)?.span ?? { start: 0, end: 0 } };
}

function scenarioLocator({ file, at, lineOf }: Extract<EdgeSource, { of: 'scenario' }>): LocatePoint {
  return ({ pointer }) => {
    const isInside = pointer.startsWith(AROUND_POLICY);
    const inside = isInside ? pointer.slice(AROUND_POLICY.length) : at === '/policy' ? '' : pointer;
    const line = lineOf(at + inside);
    return line > 0 ? { file, line, column: 1, span: null } : null;
  };
}

/** What the pointer of a route's policy ends with. */
const POLICY = '/traffic_policy/value';

/** Policies by their pointers: those of points below one belong to it. */
type PlacedPolicies = ReadonlyMap<string, PolicyDocument>;

function policiesOf(config: EdgeConfig): PlacedPolicies {
  const branding = brandingOf(config.service_name);
  const policies = placedAll(config).flatMap(({ pointer, route, kind }): [string, PolicyDocument][] => {
    const { traffic_policy: policy } = route;
    if (policy === undefined) return [];
    const at = `${pointer}${POLICY}`;
    const document = heldDocument(policy, { at, attachedTo: `${kind}_edge`, branding });
    return document === null ? [] : [[at, document]];
  });
  return new Map(policies);
}

function inPolicies(policies: PlacedPolicies, pointer: string, within: Span | null): Found | null {
  const end = pointer.indexOf(POLICY) + POLICY.length;
  const policy = policies.get(pointer.slice(0, end));
  const source = policy?.source;
  if (policy === undefined || source === undefined) return null;
  // Older spellings have other pointers: the surrounding place is good enough.
  for (let at = pointer; at.length > end; at = at.slice(0, at.lastIndexOf('/'))) {
    const text = within === null ? undefined : textAt(policy, at);
    const place = policy.placeOf(at, text);
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
