import type { EdgeConfig } from '../../edge/document/schema.ts';
import { type ExpressionValues, ruleWatch } from '../../edge/explained_rules.ts';
import {
  type Explanation,
  type Locate,
  type LocatedInnerStep,
  type LocatedStep,
  explanationOf,
  renderExplanation,
} from '../../edge/explain.ts';
import type { LogRecord } from '../../replay/log_record.ts';
import { type ReplayedEdge, replayedEdge } from '../../replay/decide.ts';
import { readRecording } from '../../replay/read_recording.ts';
import type { RecordedExchange } from '../../replay/recording.ts';
import type { ExplainedStep, ExplanationDetail, ExpressionDetail, RuleDetail } from '../wire_detail.ts';
import { type StepTimes, filterKey, stepTimes } from './step_times.ts';
import type { Circumstances, Deciding, KeptRequest } from './subject.ts';

/**
 * Explains exchanges by deciding them again from what was kept, with a full trace: nothing of this is measured or
 * recorded while traffic runs. What the exchange decided stays as it was; the second run only adds the rules that did not
 * apply, the values of expressions and the times of steps. State, such as the counters of rate limits, is that of an edge
 * that has just started; where the two runs differ, only what was decided first is shown.
 */
export interface Explainer {
  readonly explain: (kept: KeptRequest, live: Explanation) => ExplanationDetail;
}

export function explainer(
  current: () => Deciding,
  circumstances: Circumstances,
  clockMs: () => number,
): Explainer {
  let known: { readonly config: EdgeConfig; readonly edge: ExplainingEdge } | null = null;
  return {
    explain: (kept, live) => {
      const deciding = current();
      const record = recordOf(kept);
      if (record === null) return detailOf(live, null, deciding.locate);
      if (known?.config !== deciding.config)
        known = { config: deciding.config, edge: explainingEdge(deciding, circumstances, clockMs) };
      return known.edge.explain(record, live);
    },
  };
}

/** The record of a kept exchange; null if it is still open or cannot be decided again. */
export function recordOf(kept: KeptRequest): LogRecord | null {
  const { event, ...rest } = kept.record();
  return event === null ? null : readAs({ ...rest, event }, kept.seq);
}

/** As `recordOf`, of the JSON of a record. */
export function recordIn(json: string, seq: number): LogRecord | null {
  return readAs(JSON.parse(json) as RecordedExchange, seq);
}

function readAs(record: RecordedExchange, seq: number): LogRecord | null {
  const read = readRecording(record, seq);
  return 'problem' in read ? null : read;
}

/** An edge that can add to explanations what a second run shows. */
interface ExplainingEdge {
  /** For other uses: what it decides is not recorded. */
  readonly edge: ReplayedEdge;
  readonly explain: (record: LogRecord, first: Explanation) => ExplanationDetail;
  /** The same for an edge that has decided hundreds of records: its code is compiled, and few runs find its times. */
  readonly explainWarm: (record: LogRecord, first: Explanation) => ExplanationDetail;
}

export function explainingEdge(
  { config, locate }: Deciding,
  circumstances: Circumstances,
  clockMs: () => number,
): ExplainingEdge {
  let isRecording = false;
  const rules = ruleWatch(circumstances.secrets.redact, () => isRecording);
  const times = stepTimes(clockMs);
  const { watch } = rules;
  const edge = replayedEdge(config, { ...circumstances, trace: 'full', watch, filtersOf: times.filtersOf });
  const explain = (record: LogRecord, first: Explanation, timedMs: number): ExplanationDetail => {
    times.clear();
    repeatedly(edge, record, clockMs, timedMs);
    // State of an earlier run must not decide this one.
    edge.restart();
    isRecording = true;
    const { exchange } = edge.decide(record);
    isRecording = false;
    const reasons = rules.of(exchange.connection);
    const explanation = reasons.withReasons(explanationOf(exchange, locate));
    const again = { explanation, values: reasons.values(), timeOf: times.of };
    return detailOf(first, again, locate);
  };
  return {
    edge,
    explain: (record, first) => explain(record, first, TIMED_MS),
    explainWarm: (record, first) => explain(record, first, WARM_TIMED_MS),
  };
}

/** A step is run up to this often, for its fastest time, and no longer than this in all. */
const TIMED_RUNS = 50;
const TIMED_MS = 4;
const WARM_TIMED_MS = 0.5;

/** Decides often, each time without state, so that the code is compiled when it is measured. */
function repeatedly(edge: ReplayedEdge, record: LogRecord, clockMs: () => number, timedMs: number): void {
  const untilMs = clockMs() + timedMs;
  for (let run = 0; run < TIMED_RUNS && clockMs() < untilMs; run++) {
    edge.restart();
    edge.decide(record);
  }
}

/** What a second run adds to an explanation. */
interface SecondRun {
  readonly explanation: Explanation;
  readonly values: readonly ExpressionValues[];
  readonly timeOf: StepTimes['of'];
}

/** An explanation for the page; `again` is null where nothing is added. */
function detailOf(first: Explanation, again: SecondRun | null, locate: Locate): ExplanationDetail {
  const added = new Map(again?.explanation.steps.map((step) => [filterKey(step), step]));
  const steps = first.steps.map((step): LocatedStep => {
    const inner = withNotApplied(step, added.get(filterKey(step))?.inner ?? []);
    return inner.length === 0 ? step : { ...step, inner };
  });
  const decidedBy = Math.max(0, first.steps.indexOf(first.decidedBy));
  const explanation: Explanation = { ...first, steps, decidedBy: steps[decidedBy] ?? first.decidedBy };
  return {
    steps: steps.map((step) => explainedStep(step, again, locate)),
    decidedBy,
    text: renderExplanation(explanation),
  };
}

const NOT_APPLIED = 'rule.not_applied';

/** What the step did, with the rules of the second run that did not apply before or between. */
function withNotApplied(
  { inner: traced = [], verdict }: LocatedStep,
  again: readonly LocatedInnerStep[],
): readonly LocatedInnerStep[] {
  // The second run has them with reasons.
  const inner = traced.filter(({ code }) => code !== NOT_APPLIED);
  const done = new Set(inner.map(({ pointer }) => pointer));
  const all = [...inner];
  const last = Math.max(...inner.map(({ pointer }) => ruleIndex(pointer)), -1);
  for (const step of again) {
    if (step.code !== NOT_APPLIED || done.has(step.pointer)) continue;
    const index = ruleIndex(step.pointer);
    // After a stop, later rules were not reached.
    if (verdict === 'stop' && index > last) continue;
    const at = all.findIndex(({ pointer }) => ruleIndex(pointer) > index);
    all.splice(at < 0 ? all.length : at, 0, step);
  }
  return all;
}

const RULE = /^(.*\/(\d+))(?:\/actions\/\d+)?$/;

/** The position of a rule in its phase, by the pointer of the rule or of one of its actions. */
function ruleIndex(pointer: string): number {
  return Number(RULE.exec(pointer)?.[2] ?? -1);
}

function explainedStep(step: LocatedStep, again: SecondRun | null, locate: Locate): ExplainedStep {
  const rules = (step.inner ?? []).filter(({ kind }) => kind === 'rule');
  const tookMicros = again?.timeOf(step) ?? null;
  if (rules.length === 0) return { ...step, tookMicros };
  return { ...step, tookMicros, rules: rules.map((rule) => ruleDetail(rule, again?.values ?? [], locate)) };
}

function ruleDetail(
  { name, pointer, place, code, message }: LocatedInnerStep,
  values: readonly ExpressionValues[],
  locate: Locate,
): RuleDetail {
  const applied = code !== NOT_APPLIED;
  return {
    name,
    pointer,
    place,
    applied,
    reason: applied ? null : message.replace(/^does not apply: /, ''),
    expressions: values
      .filter((each) => each.pointer.startsWith(`${pointer}/`))
      .map((each) => expressionDetail(each, locate)),
  };
}

function expressionDetail(
  { pointer, source, value, decided, parts }: ExpressionValues,
  locate: Locate,
): ExpressionDetail {
  return {
    pointer,
    place: locate(pointer),
    source,
    value,
    decided: value === 'true' ? null : decided && { ...decided, skipped: null },
    parts: parts.map(({ start, end, value: of, skipped }) => ({
      start,
      end,
      value: skipped === null ? of : null,
      skipped,
    })),
  };
}
