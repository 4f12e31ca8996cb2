import { explain } from '../cel/explain.ts';
import { compile } from '../cel/program.ts';
import type { Scope } from '../cel/scope.ts';
import type { Span } from '../diagnostics/diagnostic.ts';
import { type ValueOfPart, valuesOfParts } from '../edge/expression_values.ts';
import { Activation } from '../policy/env/activation.ts';
import { NO_FACTS } from '../policy/env/facts.ts';
import { type LogRecord, anyFieldLoss, fieldLoss } from '../replay/log_record.ts';
import { type Read, readsOf } from '../replay/reads.ts';

const NO_ONE = { id: '', host: '', port: 0, protocol: 'https' } as const;

/**
 * The value of the smallest part around a name of an expression, on a request of a log; null if the log cannot know it. The
 * request is read as it came: what rules changed or set before is not known.
 */
export function recordedValue(
  source: string,
  name: Span,
  scope: Scope<Activation>,
  record: LogRecord,
): ValueOfPart | null {
  const { program } = compile(source, scope);
  if (program === undefined) return null;
  const head = 'refused' in record.head ? record.head.head : record.head;
  const { upstream } = record;
  const response = upstream !== null && 'head' in upstream ? upstream.head : undefined;
  const activation = new Activation(
    { nowMs: () => record.atMs, random: () => 0 },
    { facts: NO_FACTS, endpoint: { ...NO_ONE, host: head.host }, secret: () => undefined },
    record.connection,
    head,
    response,
  );
  const parts = valuesOfParts(source, explain(program, activation));
  const around = parts.filter(({ start, end }) => start <= name.start && name.end <= end);
  const part = around.toSorted((one, other) => one.end - one.start - (other.end - other.start))[0];
  if (part === undefined || part.skipped !== null) return null;
  const own = compile(source.slice(part.start, part.end), scope).program;
  // A part with a name that its expression declares means nothing alone.
  if (own === undefined || NOT_OF_TRAFFIC.test(own.source)) return null;
  return readsOf(own.typed).some((each) => isLost(each, record, response !== undefined)) ? null : part;
}

/** What neither the request nor its response has. */
const NOT_OF_TRAFFIC = /\bsecrets\.get\b|\bconn\.geo\b|\bendpoint\b|\btime\.now\b/;

function isLost(each: Read, record: LogRecord, hasResponse: boolean): boolean {
  const head = 'refused' in record.head ? record.head.head : record.head;
  if (each.of === 'part')
    return (
      record.lost.has(each.part) ||
      each.part === 'variables' ||
      each.part === 'results of actions' ||
      each.part === 'chance' ||
      (!hasResponse && each.part.startsWith('response'))
    );
  return each.name === null
    ? anyFieldLoss(record, head.headers) === 'redacted'
    : fieldLoss(record, head.headers, each.name) === 'redacted';
}
