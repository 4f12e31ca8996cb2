import { type News, type Recorder, isNovel } from '../../coverage/recorder.ts';
import type { CoveragePoint } from '../../coverage/point.ts';
import { shownConditions } from '../../coverage/vectors.ts';
import type { Draft } from './draft.ts';

/** Tests whether a point is covered by all runs so far; `draft` is the last one. */
type LiveTest = (point: CoveragePoint, draft: Draft) => boolean;

function hostOf({ host }: Draft): string {
  return host.replace(/:\d+$/, '').toLowerCase();
}

/** Reads points from a running recorder: there are thousands of runs, and few change anything. */
function liveTest(recorder: Recorder): LiveTest {
  const shown = new Map<string, { readonly size: number; readonly conditions: readonly boolean[] }>();
  return ({ seen }, draft) => {
    switch (seen.by) {
      case 'hit':
        return seen.keys.some((key) => recorder.count(key) > 0);
      case 'path':
        return (
          seen.test(draft.path) &&
          (recorder.count(`path ${seen.edge} ${draft.path}`) > 0 ||
            (seen.isHost(hostOf(draft)) && recorder.count(`path ?${hostOf(draft)} ${draft.path}`) > 0))
        );
      case 'host': {
        const { connect } = draft;
        const host = connect === null ? hostOf(draft) : `${connect.host}:${connect.port}`.toLowerCase();
        return seen.test(host) && recorder.count(`host ${seen.edge} ${host}`) > 0;
      }
      case 'node': {
        const record = recorder.expressions.get(seen.expression)?.record;
        return ((seen.outcome ? record?.yes : record?.no)?.[seen.node] ?? 0) > 0;
      }
      case 'vectors': {
        const record = recorder.expressions.get(seen.expression)?.record.decisions[seen.decision];
        if (record === undefined) return false;
        const key = `${seen.expression} ${seen.decision}`;
        const { size } = record.current.seen;
        let known = shown.get(key);
        if (known?.size !== size) {
          known = { size, conditions: shownConditions(Object.keys(record.vectors), seen.count) };
          shown.set(key, known);
        }
        return known.conditions[seen.condition] === true;
      }
    }
  };
}

/** Points that no run has covered yet. */
export interface OpenPoints {
  readonly count: () => number;
  /** Removes and returns the points that the last run covered, in order, and whether it did anything new. */
  readonly take: (draft: Draft) => { readonly points: readonly CoveragePoint[]; readonly isNovel: boolean };
}

/** Follows which points are open. Only those that something new can have covered are tested after a run. */
export function openPoints(points: readonly CoveragePoint[], recorder: Recorder): OpenPoints {
  const open = new Map(points.map((point, index) => [point, index]));
  const isCovered = liveTest(recorder);
  /** Open points by what must be new. */
  const byKey = new Map<string, Set<CoveragePoint>>();
  const list = (key: string, point: CoveragePoint): void => {
    const listed = byKey.get(key);
    if (listed === undefined) byKey.set(key, new Set([point]));
    else listed.add(point);
  };
  /** Lengths of the beginnings of paths that points wait for. */
  const lengths = new Set<number>();
  for (const point of points) {
    for (const key of causesOf(point)) list(key, point);
    if (point.seen.by === 'path') lengths.add(point.seen.under.length);
  }
  const close = (point: CoveragePoint): void => {
    open.delete(point);
    for (const key of causesOf(point)) {
      const waiting = byKey.get(key);
      waiting?.delete(point);
      if (waiting?.size === 0) byKey.delete(key);
    }
  };
  const beginningsOf = ({ path }: Draft): string[] =>
    Array.from(lengths, (length) => under(path.slice(0, length)));
  recorder.takeNews();
  return {
    count: () => open.size,
    take: (draft) => {
      const news = recorder.takeNews();
      const maybe = new Set<CoveragePoint>();
      const beginnings = hasPath(news) ? beginningsOf(draft) : [];
      for (const key of [...causesIn(news), ...beginnings])
        for (const point of byKey.get(key) ?? []) maybe.add(point);
      const covered = [...maybe].filter((point) => isCovered(point, draft));
      covered.sort((one, other) => open.get(one)! - open.get(other)!);
      for (const point of covered) close(point);
      return { points: covered, isNovel: isNovel(news) };
    },
  };
}

const HOSTS = 'host';

/** A new path that begins with a text. */
function under(beginning: string): string {
  return `under ${beginning}`;
}

/** What must be new before a point can be covered. */
function causesOf({ seen }: CoveragePoint): readonly string[] {
  switch (seen.by) {
    case 'hit':
      return seen.keys;
    case 'path':
      return [under(seen.under)];
    case 'host':
      return [HOSTS];
    case 'node':
      return [`outcomes ${seen.expression}`];
    case 'vectors':
      return [`vectors ${seen.expression}`];
  }
}

function hasPath({ texts }: News): boolean {
  return texts.some((text) => text.startsWith('path '));
}

function causesIn({ keys, texts, outcomes, vectors }: News): string[] {
  return [
    ...keys,
    ...texts,
    ...(texts.some((text) => text.startsWith('host ')) ? [HOSTS] : []),
    ...[...outcomes].map((key) => `outcomes ${key}`),
    ...[...vectors].map((key) => `vectors ${key}`),
  ];
}
