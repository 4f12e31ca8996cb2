import type { Recorder } from '../../coverage/recorder.ts';
import type { CoveragePoint } from '../../coverage/point.ts';
import { shownConditions } from '../../coverage/vectors.ts';
import type { Draft } from './draft.ts';

/** Tests whether a point is covered by all runs so far; `draft` is the last one. */
export type LiveTest = (point: CoveragePoint, draft: Draft) => boolean;

function hostOf({ host }: Draft): string {
  return host.replace(/:\d+$/, '').toLowerCase();
}

/** Reads points from a running recorder: there are thousands of runs, and few change anything. */
export function liveTest(recorder: Recorder): LiveTest {
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
