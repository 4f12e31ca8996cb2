import type { Activation } from '../expression/vocabulary/activation.ts';
import type { Watch } from '../policy/evaluators.ts';
import { type Observed, type Part, anyFieldLoss, fieldLoss } from './observed.ts';
import { type Read, readsOf } from './reads.ts';
import { type Judge, threeValued } from './three_valued.ts';

/** Something that decided, or may have, and that the log has lost. */
export interface Unknown {
  /** What a person calls it: `case of x-lane`, `request body`. */
  readonly attribute: string;
  /** JSON pointer of who asked for it; null for the engine. */
  readonly pointer: string | null;
}

/** What of one exchange is not known. One is used for a whole replay, record after record. */
export class Unknowns {
  observed: Observed | null = null;
  readonly found: Unknown[] = [];
  /** Pointers of templates whose text is not known: what actions made of them is not known either. */
  private readonly templates: string[] = [];
  drewChance = false;
  isUpstreamKnown = true;

  begin(observed: Observed): void {
    this.observed = observed;
    this.found.length = 0;
    this.templates.length = 0;
    this.drewChance = false;
    this.isUpstreamKnown = true;
  }

  get isTainted(): boolean {
    return this.templates.length > 0;
  }

  taint(pointer: string): void {
    if (!this.templates.includes(pointer)) this.templates.push(pointer);
  }

  /** Whether a template below this pointer is not known. */
  hasTemplate(pointer: string): boolean {
    return this.templates.some((each) => each.startsWith(`${pointer}/`));
  }

  note(attribute: string, pointer: string | null): void {
    if (!this.found.some((known) => known.attribute === attribute && known.pointer === pointer)) {
      this.found.push({ attribute, pointer });
    }
  }

  /** The first thing read that is not known; null when all of it is. */
  lossOf(reads: readonly Read[], activation: Activation): string | null {
    for (const read of reads) {
      const loss = this.lossOfOne(read, activation);
      if (loss !== null) return loss;
    }
    return null;
  }

  private lossOfOne(read: Read, activation: Activation): string | null {
    const observed = this.observed!;
    if (read.of === 'part') return this.isLostPart(read.part) ? read.part : null;
    const { headers } = activation.request;
    if (this.isTainted) return 'headers made of what was lost';
    if (read.presence) {
      const isDropped = read.name === null ? observed.dropped.size > 0 : observed.dropped.has(read.name);
      return isDropped ? `whether there was ${read.name ?? 'a header'}` : null;
    }
    const loss =
      read.name === null ? anyFieldLoss(observed, headers) : fieldLoss(observed, headers, read.name);
    if (loss === null || (loss === 'case' && read.folds)) return null;
    return loss === 'case' ? `case of ${read.name ?? 'headers'}` : `value of ${read.name ?? 'headers'}`;
  }

  private isLostPart(part: Part): boolean {
    if (part === 'variables') return this.isTainted;
    if (part === 'chance') return true;
    if (part === 'response status') return !this.isUpstreamKnown;
    if (part === 'response headers' && !this.isUpstreamKnown) return true;
    return this.observed!.lost.has(part);
  }
}

/**
 * Evaluates expressions three-valued (Kleene): what the log lost is unknown, and a condition is known all the same
 * when the rest of it decides. A condition that is not, and a template whose text is not, are noted.
 */
export function watchUnknowns(unknowns: Unknowns): Watch {
  return (program, pointer) => {
    const { typed, evaluate } = program;
    const reads = readsOf(typed);
    if (reads.length === 0) return evaluate;
    const isPart = pointer.includes('/config/');
    const judge: Judge | null = program.type.kind === 'bool' ? threeValued(program) : null;
    return (activation) => {
      const loss = unknowns.lossOf(reads, activation);
      if (loss === null) return evaluate(activation);
      const known = judge?.(activation, unknowns);
      if (typeof known === 'boolean') return known;
      if (isPart) unknowns.taint(pointer);
      else unknowns.note(known ?? loss, pointer);
      return evaluate(activation);
    };
  };
}
