import type { EdgeConfig } from '../../edge/document/schema.ts';
import { hasErrors } from '../../diagnostics/diagnostic.ts';
import { diagnosticsToJson } from '../../diagnostics/json.ts';
import { type Locate, explanationOf } from '../../edge/explain.ts';
import { locateWhereChecked } from '../../edge/policy_places.ts';
import { namedSecrets } from '../../edge/document/named_secrets.ts';
import { redactIn } from '../../engine/redact.ts';
import type { Checked } from '../../edge/document/check.ts';
import { FileError } from '../../project_files/load_config.ts';
import type { Judged } from '../../replay/compare.ts';
import { type ReplayedEdge, replayedEdge } from '../../replay/decide.ts';
import type { Decided } from '../../replay/decided.ts';
import { judging } from '../../replay/judging.ts';
import type { LogRecord } from '../../replay/log_record.ts';
import type { DraftAnswer, DraftRequest, DraftVerdict, Verdict } from '../wire_editing.ts';
import { explainingEdge, recordIn } from './explain_again.ts';
import type { Circumstances, Deciding } from './subject.ts';

/** What drafts are decided with. */
export interface DraftSetting {
  /** Reads and checks the configuration; the texts take the place of files on disk. Throws FileError. */
  readonly load: (texts: DraftRequest['texts']) => Promise<Checked>;
  /** What a configuration is compiled with; asked once, with the one that is active first. */
  readonly circumstances: (config: EdgeConfig) => Promise<Circumstances>;
  /** With fractions of a millisecond. */
  readonly clockMs: () => number;
}

/** What a draft is compared with, and for which exchanges. Exchanges stay known for the next order. */
export interface DraftOrder {
  readonly texts: DraftRequest['texts'];
  /** The texts of the active configuration; null if they are those of the order before. */
  readonly active: DraftRequest['texts'] | null;
  /** The exchanges to decide, the oldest first. */
  readonly newest: readonly number[];
  /** An exchange whose verdict is shown in any case; it need not be one of the newest. */
  readonly one: number | null;
  /** Whether it is explained. */
  readonly explains: boolean;
  /** Exchanges that earlier orders did not have, and their records in JSON. */
  readonly news: readonly (readonly [seq: number, record: string])[];
}

/**
 * Decides kept exchanges again, with the active configuration and with drafts of it, in the order in which they came.
 * Both begin without state, so counters count the same exchanges. What was not kept is unknown to both, and a difference
 * that depends on it is counted as unknown, as `edgeproof replay` does.
 */
export class Drafts {
  readonly #setting: DraftSetting;
  #records = new Map<number, LogRecord | null>();
  #active: Active | null = null;

  constructor(setting: DraftSetting) {
    this.#setting = setting;
  }

  async decide(order: DraftOrder): Promise<DraftAnswer> {
    const { load, clockMs } = this.#setting;
    const beganMs = clockMs();
    this.#note(order);
    if (order.active !== null) this.#active = await this.#activate(order.active);
    const active = this.#active!;
    const { circumstances } = active;
    const { secrets } = circumstances;
    const checked = await load(order.texts);
    const diagnostics = redactIn(diagnosticsToJson(checked.diagnostics), secrets.redact);
    const took = (): number => Math.round((clockMs() - beganMs) * 100) / 100;
    if (checked.config === null || hasErrors(checked.diagnostics))
      return {
        diagnostics,
        decided: false,
        one: null,
        changed: [],
        counts: NO_COUNTS,
        unknownFor: [],
        tookMs: took(),
      };
    for (const text of namedSecrets(checked.config)) secrets.remember(text);
    const sides = {
      before: active.deciding,
      after: { config: checked.config, locate: locateWhereChecked(checked) },
    };
    const explaining = order.explains ? explainingEdge(sides.after, circumstances, clockMs) : null;
    const all = this.#decideAll(active, explaining?.edge ?? replayedEdge(checked.config, circumstances));
    const one = all.find(({ record }) => record.line === order.one);
    const isAsked = new Set(order.newest);
    const newest = all.filter(({ record }) => isAsked.has(record.line));
    const changed = newest.filter(({ judged }) => judged.finding === 'changed').toReversed();
    const withExplanation = (each: DecidedAgain): DraftVerdict => {
      if (explaining === null) return verdictOf(each, sides);
      const first = explanationOf(each.after.exchange, sides.after.locate);
      return { ...verdictOf(each, sides), explanation: explaining.explainWarm(each.record, first) };
    };
    const answer: DraftAnswer = {
      diagnostics,
      decided: true,
      one: one === undefined ? null : withExplanation(one),
      changed: changed.map((each) => verdictOf(each, sides)),
      counts: countsOf(newest),
      unknownFor: causesOf(newest),
      tookMs: took(),
    };
    return redactIn(answer, secrets.redact);
  }

  /** Takes in what is new, and forgets what is not asked for any more. */
  #note({ newest, one, news }: DraftOrder): void {
    const given = new Map(news);
    const recordOf = (seq: number): LogRecord | null => {
      const text = given.get(seq);
      return text === undefined ? (this.#records.get(seq) ?? null) : recordIn(text, seq);
    };
    const asked = one === null || newest.includes(one) ? newest : [one, ...newest];
    this.#records = new Map(asked.map((seq) => [seq, recordOf(seq)]));
  }

  async #activate(texts: DraftRequest['texts']): Promise<Active> {
    const { config, locate } = await this.#setting.load(texts);
    if (config === null) throw new FileError('the files of the active configuration have errors now');
    const circumstances = this.#active?.circumstances ?? (await this.#setting.circumstances(config));
    for (const text of namedSecrets(config)) circumstances.secrets.remember(text);
    return {
      deciding: { config, locate },
      circumstances,
      edge: replayedEdge(config, circumstances),
      before: null,
    };
  }

  /** Decides exchanges on both sides, the oldest first; those of agents' endpoints are left out, which no file has. */
  #decideAll(active: Active, candidate: ReplayedEdge): readonly DecidedAgain[] {
    const { edge: current } = active;
    const records = Array.from(this.#records.values()).filter(
      (record) => record !== null && !isOfAgent(record, [current, candidate]),
    ) as LogRecord[];
    // While only the draft changes, the active configuration decides as it did.
    const isSame =
      active.before?.length === records.length &&
      active.before.every(({ record }, index) => record === records[index]);
    if (!isSame) {
      current.restart();
      active.before = records.map((record) => ({ record, decided: current.decide(record) }));
    }
    const judge = judging(candidate, current);
    return active.before!.map(({ record, decided: before }) => {
      const after = candidate.decide(record);
      return { record, before, after, judged: judge(record, after, before) };
    });
  }
}

/** The active configuration, and what it decided. */
interface Active {
  readonly deciding: Deciding;
  readonly circumstances: Circumstances;
  readonly edge: ReplayedEdge;
  before: readonly { readonly record: LogRecord; readonly decided: Decided }[] | null;
}

const NO_COUNTS: DraftAnswer['counts'] = { looked: 0, alike: 0, changed: 0, unknown: 0 };

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

function isOfAgent({ agentEndpoint: url }: LogRecord, edges: readonly ReplayedEdge[]): boolean {
  return url !== undefined && edges.every((edge) => !edge.hasHostOf(url));
}

function countsOf(all: readonly DecidedAgain[]): DraftAnswer['counts'] {
  const count = (finding: Judged['finding']): number =>
    all.filter(({ judged }) => judged.finding === finding).length;
  return { looked: all.length, alike: count('same'), changed: count('changed'), unknown: count('unknown') };
}

function causesOf(all: readonly DecidedAgain[]): DraftAnswer['unknownFor'] {
  const unknown = all.flatMap(({ judged: { finding, cause } }) => (finding === 'unknown' ? [cause] : []));
  const byCause = Object.entries(Object.groupBy(unknown, (cause) => cause));
  const counted = byCause.map(([cause, each]) => ({ cause, count: each!.length }));
  return counted.toSorted((one, other) => other.count - one.count);
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
