import type { Program } from '../cel/program.ts';
import { ACTION_FACTS } from '../filters/table.ts';
import type { Activation } from '../policy/env/activation.ts';
import type { Watch } from '../filters/evaluators.ts';
import { type HashKey, keyIdOf, wereEqual } from './keyed_hashes.ts';
import { type LogRecord, type Part, anyFieldLoss, fieldLoss } from './log_record.ts';
import { placeOf } from './redacted_comparison.ts';
import { type Read, readsOf } from './reads.ts';
import { type Judge, type Missing, ternaryLogic } from './ternary_logic.ts';

/** A missing input of a decision. */
export interface Unknown {
  /** Its name in reports: `case of x-lane`, `request body`. */
  readonly attribute: string;
  /** JSON pointer of the rule or module that read it; null for the engine. */
  readonly pointer: string | null;
  /** The condition that is true or false for it; null if it has other effects. */
  readonly condition: string | null;
}

/** Truth values of conditions over missing values, by their text. */
export type Assumed = ReadonlyMap<string, boolean>;

export const NOTHING_ASSUMED: Assumed = new Map();

/** The unknowns of one exchange. One instance is reused for all records of a replay. */
export class Unknowns {
  record: LogRecord | null = null;
  readonly found: Unknown[] = [];
  /** Templates whose text is unknown: results of their actions are unknown too. */
  private readonly templates: { readonly pointer: string; readonly source: string }[] = [];
  private assumed: Assumed = NOTHING_ASSUMED;
  private readonly key: HashKey | null;
  /** The key id of the hashes that were used as values. */
  private usedKeyId: string | null = null;
  /** Whether a hash was used as a value that is only compared, such as the key of a counter. */
  private usesHashes = false;
  isUpstreamKnown = true;

  constructor(key: HashKey | null = null) {
    this.key = key;
  }

  begin(record: LogRecord, assumed: Assumed): void {
    this.record = record;
    this.assumed = assumed;
    // Setting the length of a list takes longer than looking at it, and nearly all are empty.
    if (this.found.length > 0) this.found.length = 0;
    if (this.templates.length > 0) this.templates.length = 0;
    this.isUpstreamKnown = true;
    this.usesHashes = false;
  }

  get isTainted(): boolean {
    return this.templates.length > 0;
  }

  taint(pointer: string, source: string): void {
    if (!this.templates.some((each) => each.pointer === pointer)) this.templates.push({ pointer, source });
  }

  /**
   * What is assumed of a condition over a missing value. The same text over the same values is true or false in both
   * configurations; values that templates have made are the same if the templates are.
   */
  judge(text: string, loss: string): boolean | Missing {
    // The value of a field that may have been absent may be an error, too.
    if (this.record!.dropped.size > 0 && loss.startsWith('value of '))
      return { attribute: loss, condition: null };
    const sources = this.templates.map(({ source }) => source);
    const condition = [text, ...sources].join('\n');
    return this.assumed.get(condition) ?? { attribute: loss, condition };
  }

  /** Whether a template below this pointer is unknown. */
  hasTemplate(pointer: string): boolean {
    return this.templates.some((each) => each.pointer.startsWith(`${pointer}/`));
  }

  wereEqual(one: string, other: string): boolean | null {
    return this.hasTexts ? wereEqual(one, other, this.key) : null;
  }

  /** Whether texts are complete but for the marks in them. */
  private get hasTexts(): boolean {
    const { keptCase, dropped } = this.record!;
    return keptCase === 'all' && dropped.size === 0 && !this.isTainted;
  }

  /**
   * Whether a redacted value has a hash that can be used in its place where values are only compared with each other. All
   * such hashes of a replay have to be made with one key.
   */
  useHash(text: unknown): boolean {
    const id = typeof text === 'string' && this.hasTexts ? keyIdOf(text) : null;
    this.usedKeyId ??= id;
    if (id === null || id !== this.usedKeyId) return false;
    this.usesHashes = true;
    return true;
  }

  note(attribute: string, pointer: string | null, condition: string | null = null): void {
    const isKnown = this.found.some(
      (known) => known.attribute === attribute && known.pointer === pointer && known.condition === condition,
    );
    if (!isKnown) this.found.push({ attribute, pointer, condition });
  }

  /** A condition that the log lacks, as it is assumed to be; without an assumption it is noted, and true. */
  suppose(attribute: string, condition: string): boolean {
    const assumed = this.assumed.get(condition);
    if (assumed === undefined) this.note(attribute, null, condition);
    return assumed ?? true;
  }

  /** The first of the reads whose value is missing; null if all are known. */
  lossOf(reads: readonly Read[], activation: Activation): string | null {
    for (const read of reads) {
      const loss = this.lossOfOne(read, activation);
      if (loss !== null) return loss;
    }
    return null;
  }

  private lossOfOne(read: Read, activation: Activation): string | null {
    const record = this.record!;
    if (read.of === 'part') return this.isLostPart(read.part) ? read.part : null;
    const { headers } = activation.request;
    if (this.isTainted) return 'headers built from missing values';
    if (read.presence) {
      const isDropped = read.name === null ? record.dropped.size > 0 : record.dropped.has(read.name);
      return isDropped ? `whether ${read.name ?? 'a header'} was present` : null;
    }
    const loss = read.name === null ? anyFieldLoss(record, headers) : fieldLoss(record, headers, read.name);
    if (loss === null || (loss === 'case' && read.folds)) return null;
    return loss === 'case' ? `case of ${read.name ?? 'headers'}` : `value of ${read.name ?? 'headers'}`;
  }

  private isLostPart(part: Part): boolean {
    if (part === 'variables') return this.isTainted;
    if (part === 'results of actions') return this.isTainted || this.usesHashes;
    if (part === 'chance') return true;
    if (part === 'response status') return !this.isUpstreamKnown;
    if (part === 'response headers' && !this.isUpstreamKnown) return true;
    return this.record!.lost.has(part);
  }
}

/** Members of configs whose values are only compared with each other. */
const COMPARED: ReadonlySet<string> = new Set(
  [...ACTION_FACTS.values()].flatMap(({ compares = [] }) => compares),
);

/** Whether an expression is a value of the request that an action only compares with the same value of others. */
function isOnlyCompared(pointer: string, { typed }: Program<Activation>): boolean {
  const [, member] = /\/config(\/[^/]+)/.exec(pointer) ?? [];
  return member !== undefined && COMPARED.has(member) && placeOf(typed, typed.ast.root) !== null;
}

/**
 * Evaluates expressions in three-valued (Kleene) logic: missing inputs are unknown, but a condition is known if
 * the rest of it decides. Unknown conditions and templates are noted.
 */
export function watchUnknowns(unknowns: Unknowns): Watch {
  return (program, pointer) => {
    const { typed, evaluate } = program;
    const reads = readsOf(typed);
    if (reads.length === 0) return evaluate;
    const isPart = pointer.includes('/config/');
    const judge: Judge | null = program.type.kind === 'bool' ? ternaryLogic(program) : null;
    return (activation) => {
      const loss = unknowns.lossOf(reads, activation);
      if (loss === null) return evaluate(activation);
      const known = judge?.(activation, unknowns);
      if (typeof known === 'boolean') return known;
      if (isPart && isOnlyCompared(pointer, program) && unknowns.useHash(evaluate(activation)))
        return evaluate(activation);
      if (isPart) unknowns.taint(pointer, program.source);
      else unknowns.note(known?.attribute ?? loss, pointer, known?.condition ?? null);
      return evaluate(activation);
    };
  };
}
