import type { NodeReport, NodesReport } from './report.ts';

interface Written {
  readonly revision: number;
  readonly name: string;
  readonly on: number;
}

interface Kept extends Written {
  readonly atMs: number;
  readonly reachedMs: (number | null)[];
  stale: number;
  lastStaleMs: number | null;
}

interface Span {
  requests: number;
  readonly fromMs: number;
  untilMs: number;
}

/** Which node served which revision of the configuration. */
export class RevisionLedger {
  readonly #count: number;
  readonly #revisions: Kept[];
  /** By node: requests by revision. */
  readonly #spans: readonly Map<number, Span>[];
  readonly #refused: { readonly name: string; readonly on: number; readonly atMs: number }[] = [];

  constructor(count: number, startMs: number) {
    this.#count = count;
    this.#spans = Array.from({ length: count }, () => new Map());
    const first = { revision: 1, name: '', on: 0, atMs: startMs };
    const reachedMs = Array.from({ length: count }, () => startMs);
    this.#revisions = [{ ...first, reachedMs, stale: 0, lastStaleMs: null }];
  }

  written(written: Written, nowMs: number): void {
    const reachedMs = Array.from({ length: this.#count }, () => null);
    this.#revisions.push({ ...written, atMs: nowMs, reachedMs, stale: 0, lastStaleMs: null });
  }

  refused(name: string, on: number, atMs: number): void {
    this.#refused.push({ name, on, atMs });
  }

  reached(node: number, revision: number, nowMs: number): void {
    // A node that was away gets the newest, and never serves those between.
    this.#revisions[revision - 1]!.reachedMs[node - 1] ??= nowMs;
  }

  /** A request begins at a node. */
  served(node: number, revision: number, nowMs: number): void {
    const spans = this.#spans[node - 1]!;
    const span = spans.get(revision);
    if (span === undefined) spans.set(revision, { requests: 1, fromMs: nowMs, untilMs: nowMs });
    else {
      span.requests++;
      span.untilMs = nowMs;
    }
    for (let newer = revision; newer < this.#revisions.length; newer++) {
      const written = this.#revisions[newer]!;
      written.stale++;
      written.lastStaleMs = nowMs;
    }
  }

  report(): Pick<NodesReport, 'nodes' | 'revisions' | 'refusedWrites'> {
    const nodes = this.#spans.map((spans, index): NodeReport => {
      const revisions = Array.from(spans, ([revision, span]) => ({ revision, ...span }));
      const requests = revisions.reduce((sum, each) => sum + each.requests, 0);
      return { node: index + 1, requests, revisions };
    });
    const revisions = this.#revisions.slice(1);
    return { nodes, revisions, refusedWrites: this.#refused };
  }
}
