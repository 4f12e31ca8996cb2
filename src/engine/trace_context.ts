import type { World } from './contract.ts';
import { type FieldList, allValues, withoutField } from '../http/fields.ts';

/** The place of an exchange in a trace (W3C Trace Context, Recommendation of 2021). */
export interface TraceContext {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** Span of this exchange: 16 hexadecimal digits. */
  readonly spanId: string;
  /** Span of the client; null if the trace begins here. */
  readonly parentId: string | null;
  /** The flags of the client, or those of a sampled trace. */
  readonly flags: number;
  /** `tracestate` as it was received; may be empty. */
  readonly state: string;
}

export const SAMPLED = 1;

/** Later versions begin with the fields of version 00, and may go on after a dash (§3.2.4, §4.3). */
const TRACEPARENT =
  /^(?<version>[0-9a-f]{2})-(?<trace>[0-9a-f]{32})-(?<parent>[0-9a-f]{16})-(?<flags>[0-9a-f]{2})(?<more>-.*)?$/;
const ONLY_ZEROS = /^0+$/;

/** Continues the trace of a request; begins one if its `traceparent` is absent, repeated or invalid. */
export function traceContextOf(headers: FieldList, world: Pick<World, 'random'>): TraceContext {
  const spanId = randomId(16, world);
  const given = allValues(headers, 'traceparent');
  const parsed = given.length === 1 ? TRACEPARENT.exec(given[0]!.trim())?.groups : undefined;
  if (parsed === undefined || !isValid(parsed)) {
    return { traceId: randomId(32, world), spanId, parentId: null, flags: SAMPLED, state: '' };
  }
  const { trace, parent, flags } = parsed as Readonly<Record<string, string>>;
  const state = allValues(headers, 'tracestate').join(',');
  return { traceId: trace!, spanId, parentId: parent!, flags: Number.parseInt(flags!, 16), state };
}

function isValid({ version, trace, parent, more }: Readonly<Record<string, string | undefined>>): boolean {
  if (version === 'ff' || (version === '00' && more !== undefined)) return false;
  return !ONLY_ZEROS.test(trace!) && !ONLY_ZEROS.test(parent!);
}

/** An id that is not zero. */
function randomId(digits: number, world: Pick<World, 'random'>): string {
  const WORD_DIGITS = 8;
  for (;;) {
    const words = Array.from({ length: digits / WORD_DIGITS }, () => Math.floor(world.random() * 2 ** 32));
    const id = words.map((word) => word.toString(16).padStart(WORD_DIGITS, '0')).join('');
    if (!ONLY_ZEROS.test(id)) return id;
  }
}

/** The fields for an upstream, with the span of this exchange as the parent. */
export function withTraceContext(headers: FieldList, context: TraceContext): FieldList {
  const { traceId, spanId, flags, state } = context;
  // Flags that this version does not know are not passed on (§3.2.2.5).
  const known = (flags & SAMPLED).toString(16).padStart(2, '0');
  const others = withoutField(withoutField(headers, 'traceparent'), 'tracestate');
  const own = ['traceparent', `00-${traceId}-${spanId}-${known}`];
  return [...others, ...own, ...(state === '' ? [] : ['tracestate', state])];
}
