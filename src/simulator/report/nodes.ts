import { counted, grouped } from '../../diagnostics/message_text.ts';
import type { EndReport } from '../nodes/end_ledger.ts';
import type { LimitReport } from '../nodes/limit_ledger.ts';
import type { NodesReport, RevisionReport } from '../nodes/report.ts';
import { LIMITS_MODES, SESSIONS_MODES, SPREADS, UNAVAILABLE_MODES } from '../nodes/setting.ts';

/** What several nodes did, as data; times in ms since the start of the run. */
export function nodesData(report: NodesReport, startMs: number): object {
  const { setting, nodes, revisions, refusedWrites, limits, ends, unreported } = report;
  const since = (ms: number | null) => (ms === null ? null : ms - startMs);
  return {
    count: setting.count,
    limits: setting.limits,
    sessions: setting.sessions,
    when_unavailable: setting.whenUnavailable,
    spread: setting.spread,
    delay_ms: setting.delayMs,
    served: nodes.map(({ node, requests, revisions: own }) => ({
      node,
      requests,
      revisions: own.map(({ revision, requests: of, fromMs, untilMs }) => ({
        revision,
        requests: of,
        from_ms: since(fromMs),
        until_ms: since(untilMs),
      })),
    })),
    revisions: revisions.map(({ revision, name, on, atMs, reachedMs, stale, lastStaleMs }) => ({
      revision,
      name,
      on,
      at_ms: since(atMs),
      reached_ms: reachedMs.map(since),
      stale_requests: stale,
      last_stale_ms: since(lastStaleMs),
    })),
    refused_writes: refusedWrites.map(({ name, on, atMs }) => ({ name, on, at_ms: since(atMs) })),
    rate_limits: limits.map((limit) => ({
      name: limit.name,
      capacity: limit.capacity,
      window_ms: limit.windowMs,
      requests: limit.requests,
      admitted: limit.admitted,
      unchecked: limit.unchecked,
      unavailable: limit.unavailable,
      one_node: limit.oneNode,
      over_admitted: overOf(limit),
      most_in_window: limit.most.admitted,
      most_at_ms: since(limit.most.atMs),
    })),
    ended_sessions: ends.map(({ of, atMs, node, knownMs, passed, lastPassedMs }) => ({
      of,
      node,
      at_ms: since(atMs),
      known_ms: knownMs.map(since),
      passed_requests: passed,
      last_passed_ms: since(lastPassedMs),
    })),
    unreported_ends: unreported,
  };
}

/** Requests that were admitted and would not have been on one node; below 0 if fewer were admitted. */
function overOf({ admitted, oneNode }: LimitReport): number {
  return admitted - oneNode;
}

/** Ends of sessions in the table, those that let the most pass first; the others are in the data. */
const SHOWN_ENDS = 10;

/** What several nodes did, as lines of a report. */
export function nodesLines(report: NodesReport, startMs: number, endMs: number): string[] {
  const { setting, nodes, revisions, refusedWrites, limits, ends, unreported } = report;
  const at = (ms: number) => `${((ms - startMs) / 1_000).toFixed(1)} s`;
  const lines = [
    '',
    counted(setting.count, 'node'),
    `  limits ${setting.limits}: ${LIMITS_MODES[setting.limits]}`,
    `  sessions ${setting.sessions}: ${SESSIONS_MODES[setting.sessions]}`,
    `  requests ${setting.spread}: ${SPREADS[setting.spread]}`,
    ...(setting.limits === 'shared'
      ? [
          `  without the shared state ${setting.whenUnavailable}: ${UNAVAILABLE_MODES[setting.whenUnavailable]}`,
        ]
      : []),
  ];
  for (const { node, requests, revisions: own } of nodes) {
    const served = own.map(
      ({ revision, requests: of, fromMs, untilMs }) =>
        `revision ${revision}: ${grouped(of)} (${at(fromMs)} to ${at(untilMs)})`,
    );
    const count = grouped(requests).padStart(12);
    lines.push(`  ${`node ${node}`.padEnd(10)} ${count}  ${served.join(', ')}`.trimEnd());
  }
  for (const limit of limits) lines.push('', ...limitLines(limit, at));
  for (const revision of revisions) lines.push('', ...revisionLines(revision, at, endMs));
  for (const { name, on, atMs } of refusedWrites)
    lines.push('', `${name} was not written at ${at(atMs)}: node ${on} could not reach the store`);
  const worst = [...ends].sort((one, other) => other.passed - one.passed);
  for (const end of worst.slice(0, SHOWN_ENDS)) lines.push('', ...endLines(end, at, endMs));
  const more = Math.max(0, ends.length - SHOWN_ENDS) + unreported;
  if (more > 0) lines.push('', `${counted(more, 'more session ended', 'more sessions ended')}; see --json`);
  return lines;
}

type At = (ms: number) => string;

function limitLines(limit: LimitReport, at: At): string[] {
  const { name, capacity, windowMs, requests, admitted, oneNode, most, unchecked, unavailable } = limit;
  const over = overOf(limit);
  const difference = over === 0 ? 'as many' : over > 0 ? `${grouped(over)} too many` : `${-over} fewer`;
  return [
    `limit ${name}: ${capacity} in ${windowMs / 1_000} s`,
    `  ${grouped(admitted)} of ${counted(requests, 'request')} admitted; one node would have admitted ${grouped(oneNode)}: ${difference}`,
    `  at most ${grouped(most.admitted)} for one key in a window (${(most.admitted / capacity).toFixed(2)} × the limit), at ${at(most.atMs)}`,
    ...(unchecked === 0 ? [] : [`  ${counted(unchecked, 'request')} passed unchecked`]),
    ...(unavailable === 0 ? [] : [`  ${counted(unavailable, 'request')} refused with 503`]),
  ];
}

function revisionLines(
  { revision, name, on, atMs, reachedMs, stale, lastStaleMs }: RevisionReport,
  at: At,
  endMs: number,
): string[] {
  const others = reachedMs.flatMap((ms, index) => {
    if (index + 1 === on) return [];
    return [`node ${index + 1} ${ms === null ? 'never' : afterText(ms, atMs, endMs)}`];
  });
  const old =
    lastStaleMs === null
      ? 'no request was served with an older one'
      : `${counted(stale, 'request was', 'requests were')} served with an older one, the last at ${at(lastStaleMs)}`;
  return [
    `revision ${revision}: ${name} on node ${on} at ${at(atMs)}`,
    ...(others.length === 0 ? [] : [`  ${others.join(', ')}`]),
    `  ${old}`,
  ];
}

/** The run goes on after the end of the simulation until all is heard, without requests. */
function afterText(ms: number, atMs: number, endMs: number): string {
  const after = `after ${((ms - atMs) / 1_000).toFixed(1)} s`;
  return ms >= endMs ? `${after}, when the simulation has ended` : after;
}

function endLines(
  { of, atMs, node, knownMs, passed, lastPassedMs }: EndReport,
  at: At,
  endMs: number,
): string[] {
  const unaware = knownMs.flatMap((ms, index) => (ms === null ? [index + 1] : []));
  const last = Math.max(...knownMs.map((ms) => ms ?? Number.NEGATIVE_INFINITY));
  const known =
    unaware.length === 0
      ? `all nodes knew ${afterText(last, atMs, endMs)}`
      : `lost: ${unaware.length === 1 ? 'node' : 'nodes'} ${unaware.join(', ')} never knew`;
  const what = of === 'user' ? 'the sessions of a user' : `a ${of}`;
  return [
    `${what} ended on node ${node} at ${at(atMs)}`,
    `  ${known}`,
    lastPassedMs === null
      ? '  no request passed afterwards'
      : `  ${counted(passed, 'request')} passed afterwards, the last after ${((lastPassedMs - atMs) / 1_000).toFixed(1)} s`,
  ];
}
