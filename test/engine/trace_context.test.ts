import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SAMPLED, traceContextOf, withTraceContext } from '../../src/engine/trace_context.ts';
import { seeded, sized } from '../random.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const PARENT = 'b7ad6b7169203331';

describe('a traceparent', () => {
  it.each([
    [`00-${TRACE}-${PARENT}-01`],
    [` 00-${TRACE}-${PARENT}-01 `],
    [`01-${TRACE}-${PARENT}-01`],
    [`cc-${TRACE}-${PARENT}-01-what-the-future-is`],
  ])('%j is continued', (value) => {
    const headers = ['Traceparent', value, 'tracestate', 'a=1', 'Tracestate', 'b=2'];
    expect(traceContextOf(headers, { random: seeded(1) })).toMatchObject({
      traceId: TRACE,
      parentId: PARENT,
      flags: SAMPLED,
      state: 'a=1,b=2',
    });
  });

  it.each([
    [''],
    [`ff-${TRACE}-${PARENT}-01`],
    [`00-${TRACE}-${PARENT}-01-more`],
    [`cc-${TRACE}-${PARENT}-01.more`],
    [`00-${TRACE.toUpperCase()}-${PARENT}-01`],
    [`00-${'0'.repeat(32)}-${PARENT}-01`],
    [`00-${TRACE}-${'0'.repeat(16)}-01`],
    [`00-${TRACE}-${PARENT}`],
    [`00-${TRACE}-${PARENT}-1`],
    [`00-${TRACE}-${PARENT}-01, 00-${TRACE}-${PARENT}-01`],
  ])('%j begins a new trace, without the state of another', (value) => {
    const context = traceContextOf(['traceparent', value, 'tracestate', 'a=1'], { random: seeded(1) });
    expect(context).toMatchObject({ parentId: null, flags: SAMPLED, state: '' });
    expect(context.traceId).not.toBe(TRACE);
  });

  it('that is repeated begins a new trace', () => {
    const value = `00-${TRACE}-${PARENT}-01`;
    expect(
      traceContextOf(['traceparent', value, 'traceparent', value], { random: seeded(1) }).parentId,
    ).toBeNull();
  });
});

it('whatever a client sends, the upstream gets one valid traceparent of this exchange', () => {
  const name = fc.constantFrom('traceparent', 'TraceParent', 'tracestate', 'x-other');
  const value = fc.oneof(fc.string(), fc.constant(`00-${TRACE}-${PARENT}-ff`));
  const property = fc.property(fc.array(fc.tuple(name, value), { maxLength: 5 }), (pairs) => {
    const headers = pairs.flat();
    const context = traceContextOf(headers, { random: seeded(2) });
    const sent = withTraceContext(headers, context);
    const parents = sent.filter((_, at) => at % 2 === 1 && sent[at - 1]!.toLowerCase() === 'traceparent');
    expect(parents).toEqual([`00-${context.traceId}-${context.spanId}-01`]);
    expect(traceContextOf(sent, { random: seeded(3) })).toMatchObject({
      traceId: context.traceId,
      parentId: context.spanId,
    });
    const others = (fields: readonly string[]) =>
      fields.filter((_, at) => fields[at - (at % 2)] === 'x-other');
    expect(others(sent)).toEqual(others(headers));
  });
  fc.assert(property, sized(1_000));
});
