import { weakMemoize } from '../caches/weak_memoize.ts';
import type { Verdict, HandlerPart } from '../engine/contract.ts';
import type { Exchange } from '../engine/exchange.ts';
import type { CompiledFilter } from '../engine/pipeline.ts';
import type { ActionFacts, ModuleFacts } from '../filters/facts.ts';
import type { Input } from '../filters/fact_values.ts';
import { ACTION_FACTS, MODULE_FACTS } from '../filters/table.ts';
import { type LogRecord, type Part, anyFieldLoss, isLost } from './log_record.ts';
import type { Unknowns } from './unknowns.ts';

/** A module or an action with the facts that its config decides. */
export interface FilterPart {
  readonly type: string;
  readonly pointer: string;
  readonly reads: readonly Input[];
  readonly speaksOnly: boolean;
  readonly remembersMs: number;
  readonly lastsUntilSuccess: boolean;
}

interface Parts {
  /** The module itself, then the actions inside it. */
  readonly all: readonly FilterPart[];
  readonly actions: ReadonlyMap<string, FilterPart>;
  /** Whether any of them reads something by itself, without an expression. */
  readonly isReader: boolean;
}

const partsIn = weakMemoize((filter: CompiledFilter): Parts => {
  const [module, ...inside] = filter.parts;
  const actions = inside.map((part) => partOf(part, ACTION_FACTS.get(part.type)!));
  const all = [partOf(module!, MODULE_FACTS.get(filter.module)!), ...actions];
  return {
    all,
    actions: new Map(actions.map((part) => [part.pointer, part])),
    isReader: all.some(({ reads }) => reads.length > 0),
  };
});

function partOf(
  { type, pointer, config }: HandlerPart,
  facts: ModuleFacts<never> | ActionFacts<never>,
): FilterPart {
  const { reads, remembersMs, lastsUntilSuccess = false } = facts;
  return {
    type,
    pointer,
    reads: typeof reads === 'function' ? reads(config as never) : reads,
    speaksOnly: 'speaksOnly' in facts && facts.speaksOnly,
    remembersMs: remembersMs?.(config as never) ?? 0,
    lastsUntilSuccess,
  };
}

/** The parts of a filter: the module itself, and the actions inside it. */
export function partsOf(filter: CompiledFilter): readonly FilterPart[] {
  return partsIn(filter).all;
}

/** The parts of a filter that ran: the module, and the actions of its steps. */
export function usedParts(filter: CompiledFilter, { inner = [], reason }: Verdict): readonly FilterPart[] {
  const { all, actions } = partsIn(filter);
  const used = [all[0]!];
  if (actions.size === 0) return used;
  for (const { pointer } of inner) {
    const action = actions.get(pointer);
    if (action !== undefined) used.push(action);
  }
  // An action that failed has no step: the reason names its place, or one below it.
  const failed =
    reason.pointer === undefined ? undefined : actions.get(reason.pointer.replace(/\/config\/.*$/s, ''));
  if (failed !== undefined && !used.includes(failed)) used.push(failed);
  return used;
}

/** Notes which of the inputs of the executed modules and actions are missing in the log. */
export function lostInputsOf(exchange: Exchange, record: LogRecord, unknowns: Unknowns): void {
  const { pipeline, verdicts, responseVerdicts, inside } = exchange;
  if (pipeline === null) return;
  const { filters } = pipeline;
  for (let index = 0; index < filters.length; index++) {
    const filter = filters[index]!;
    if (!unknowns.isTainted && !partsIn(filter).isReader) continue;
    const verdict = verdicts[index];
    const responseVerdict = responseVerdicts[index];
    if (verdict !== undefined) lostInputsOfVerdict(filter, verdict, record, unknowns);
    if (responseVerdict !== undefined) lostInputsOfVerdict(filter, responseVerdict, record, unknowns);
  }
  if (inside !== null) lostInputsOf(inside, record, unknowns);
}

function lostInputsOfVerdict(
  filter: CompiledFilter,
  verdict: Verdict,
  record: LogRecord,
  unknowns: Unknowns,
): void {
  const [own, ...actions] = usedParts(filter, verdict);
  noteLosses(own!, record, unknowns);
  for (const action of actions) {
    noteLosses(action, record, unknowns);
    if (unknowns.isTainted && !action.speaksOnly && unknowns.hasTemplate(action.pointer)) {
      unknowns.note('a text built from missing values', action.pointer);
    }
  }
}

function noteLosses({ reads, pointer }: FilterPart, record: LogRecord, unknowns: Unknowns): void {
  for (const input of reads) {
    const lost = lossOf(input, record);
    if (lost !== null) unknowns.note(lost, pointer);
  }
}

/** The name of what a record lacks of an input; null if it has all of it, or the engine asks for it. */
function lossOf(input: Input, record: LogRecord): string | null {
  if (typeof input === 'object') return isLost(record, input.header) ? `value of ${input.header}` : null;
  if (input === 'headers') {
    const { head } = record;
    const { headers } = 'refused' in head ? head.head : head;
    return anyFieldLoss(record, headers) === null ? null : 'value of headers';
  }
  const part = PARTS[input];
  if (part === undefined || !record.lost.has(part)) return null;
  const hasCertificate = (record.connection.tls?.clientCertificate ?? null) !== null;
  return part === 'client certificate' && !hasCertificate ? null : part;
}

/** Parts of a record by the inputs that they are. */
const PARTS: Partial<Readonly<Record<Extract<Input, string>, Part>>> = {
  client_address: 'client address',
  client_certificate: 'client certificate',
  session: 'session',
};
