import type { EdgeConfig } from '../../edge/document/schema.ts';
import { hasErrors } from '../../diagnostics/diagnostic.ts';
import { diagnosticsToJson } from '../../diagnostics/json.ts';
import { type Locate, explanationOf } from '../../edge/explain.ts';
import { namedSecrets } from '../../edge/document/named_secrets.ts';
import { redactIn } from '../../engine/redact.ts';
import { loadConfigText, readText } from '../../project_files/load_config.ts';
import { type NamedFiles, filesOnDisk } from '../../project_files/named_files.ts';
import type { Judged } from '../../replay/compare.ts';
import { type ReplayedEdge, replayedEdge } from '../../replay/decide.ts';
import type { Decided } from '../../replay/decided.ts';
import { judging } from '../../replay/judging.ts';
import type { LogRecord } from '../../replay/log_record.ts';
import type { DraftAnswer, DraftRequest, DraftVerdict, Verdict } from '../wire_editing.ts';
import { explainingEdge, recordOf } from './explain_again.ts';
import type { Circumstances, Deciding, KeptRequest } from './subject.ts';

export interface DraftSetting {
  /** The edge file, as the user named it; its text is YAML or JSON. */
  readonly edgeFile: string;
  readonly current: () => Deciding;
  readonly circumstances: Circumstances;
  /** The newest exchanges that are complete, newest first. */
  readonly newest: (count: number) => readonly KeptRequest[];
  readonly find: (seq: number) => KeptRequest | null;
  /** With fractions of a millisecond. */
  readonly clockMs: () => number;
  /** Lets other work of the process happen. */
  readonly pause: () => Promise<void>;
}

type Draft = (request: DraftRequest) => Promise<DraftAnswer>;

const LAST = 500;
const MOST = 5_000;
/** Records are decided for this long between two pauses, because the edge serves in the same thread. */
const SLICE_MS = 5;

/**
 * Decides kept exchanges again, with the active configuration and with a draft of it, in the order in which they came.
 * Both begin without state, so counters count the same exchanges. What was not kept is unknown to both, and a difference
 * that depends on it is counted as unknown, as `edgeproof replay` does.
 */
export function drafts(setting: DraftSetting): Draft {
  let known: ReplayedEdge | null = null;
  const edgeNow = (config: EdgeConfig): ReplayedEdge => {
    if (known?.config === config) known.restart();
    else known = replayedEdge(config, setting.circumstances);
    return known;
  };
  return async ({ texts, seq, last = LAST }) => {
    const beganMs = setting.clockMs();
    const { edgeFile, current, circumstances } = setting;
    const files = withTexts(filesOnDisk(edgeFile), texts);
    const checked = await loadConfigText(edgeFile, texts[edgeFile] ?? readText(edgeFile), { files });
    const { secrets } = circumstances;
    const diagnostics = redactIn(diagnosticsToJson(checked.diagnostics), secrets.redact);
    const took = (): number => Math.round((setting.clockMs() - beganMs) * 100) / 100;
    if (checked.config === null || hasErrors(checked.diagnostics))
      return { diagnostics, decided: false, one: null, changed: [], counts: NO_COUNTS, tookMs: took() };
    for (const text of namedSecrets(checked.config)) secrets.remember(text);
    const sides = { before: current(), after: { config: checked.config, locate: checked.locate } };
    const explaining = explainingEdge(sides.after, circumstances, setting.clockMs);
    await setting.pause();
    const kept = setting.newest(Math.min(last, MOST)).toReversed();
    const asked = new Set(kept.map((each) => each.seq));
    const named = seq === undefined || asked.has(seq) ? null : setting.find(seq);
    const edges = { current: edgeNow(sides.before.config), candidate: explaining.edge };
    const all = await decideAll(named === null ? kept : [named, ...kept], edges, setting);
    const one = all.find(({ record }) => record.line === seq);
    const newest = all.filter(({ record }) => asked.has(record.line));
    const changed = newest.filter(({ judged }) => judged.finding === 'changed').toReversed();
    const withExplanation = (each: DecidedAgain): DraftVerdict => {
      const first = explanationOf(each.after.exchange, sides.after.locate);
      return { ...verdictOf(each, sides), explanation: explaining.explain(each.record, first) };
    };
    const answer: DraftAnswer = {
      diagnostics,
      decided: true,
      one: one === undefined ? null : withExplanation(one),
      changed: changed.map((each) => verdictOf(each, sides)),
      counts: countsOf(newest),
      tookMs: took(),
    };
    return redactIn(answer, secrets.redact);
  };
}

const NO_COUNTS: DraftAnswer['counts'] = { looked: 0, alike: 0, changed: 0, unknown: 0 };

/** The files on disk, with other texts for some of them. */
export function withTexts(files: NamedFiles, texts: DraftRequest['texts']): NamedFiles {
  return {
    ...files,
    read: (name) => (Object.hasOwn(texts, name) ? { name, text: texts[name]! } : files.read(name)),
  };
}

interface Sides {
  readonly before: Deciding;
  readonly after: Deciding;
}

interface DecidedAgain {
  readonly record: LogRecord;
  readonly before: Decided;
  readonly after: Decided;
  readonly judged: Judged;
}

/** Decides exchanges on both sides, the oldest first; those of agents' endpoints are left out, which no file has. */
async function decideAll(
  kept: readonly KeptRequest[],
  { current, candidate }: { readonly current: ReplayedEdge; readonly candidate: ReplayedEdge },
  { clockMs, pause }: DraftSetting,
): Promise<readonly DecidedAgain[]> {
  const judge = judging(candidate, current);
  const all: DecidedAgain[] = [];
  let pauseMs = clockMs() + SLICE_MS;
  for (const each of kept) {
    const record = recordOf(each);
    if (record === null || isOfAgent(record, [current, candidate])) continue;
    const before = current.decide(record);
    const after = candidate.decide(record);
    all.push({ record, before, after, judged: judge(record, after, before) });
    if (clockMs() < pauseMs) continue;
    await pause();
    pauseMs = clockMs() + SLICE_MS;
  }
  return all;
}

function isOfAgent({ agentEndpoint: url }: LogRecord, edges: readonly ReplayedEdge[]): boolean {
  return url !== undefined && edges.every((edge) => !edge.hasHostOf(url));
}

function countsOf(all: readonly DecidedAgain[]): DraftAnswer['counts'] {
  const count = (finding: Judged['finding']): number =>
    all.filter(({ judged }) => judged.finding === finding).length;
  return { looked: all.length, alike: count('same'), changed: count('changed'), unknown: count('unknown') };
}

function verdictOf({ record, before, after, judged }: DecidedAgain, sides: Sides): DraftVerdict {
  const unknown = judged.finding === 'unknown' ? judged.cause : null;
  return {
    seq: record.line,
    before: sideOf(before, sides.before.locate),
    after: sideOf(after, sides.after.locate),
    differences: judged.finding === 'changed' ? [judged.cause] : [],
    unknown: unknown === null ? [] : [unknown],
    explanation: null,
  };
}

function sideOf({ outcome, by, code, status, endpoint, pointer }: Decided, locate: Locate): Verdict {
  return {
    verdict: outcome === 'forwarded' ? 'pass' : 'stop',
    by,
    code,
    status: status === 0 ? null : status,
    backend: endpoint?.id ?? null,
    place: pointer === null ? null : locate(pointer),
  };
}
