import type { SearchAnswer } from '../wire.ts';
import type { InspectorContext } from './context.ts';
import { redactedRecord } from './detail.ts';
import { countIn, optionalTextIn } from './handler.ts';
import type { Kept } from './kept.ts';
import { type RowFilter, compileRowFilter } from './row_filter.ts';

const LIMIT = 200;
const MOST = 2_000;
/** How long a search may hold the process before traffic has its turn again. */
const SLICE_MS = 8;

/** Kept rows that match, newest first. */
export async function search(body: unknown, context: InspectorContext): Promise<SearchAnswer> {
  const text = optionalTextIn(body, 'text')?.toLowerCase() ?? '';
  const expression = optionalTextIn(body, 'expression') ?? '';
  const before = countIn(body, 'before', Infinity);
  const limit = countIn(body, 'limit', LIMIT, [1, MOST]);
  const filter = expression.trim() === '' ? null : compileRowFilter(expression);
  if (filter !== null && 'diagnostics' in filter)
    return { rows: [], more: false, searched: 0, diagnostics: filter.diagnostics };
  const matches = (kept: Kept): boolean =>
    takes(kept, filter) && (text === '' || hasText(kept, text, context));
  const candidates = context.store
    .list()
    .filter(({ seq }) => seq < before)
    .toReversed();
  const found: Kept[] = [];
  let searched = 0;
  let since = performance.now();
  for (const kept of candidates) {
    searched++;
    if (matches(kept) && found.push(kept) > limit) break;
    if (performance.now() - since < SLICE_MS) continue;
    await new Promise<void>((resolve) => {
      setImmediate(resolve);
    });
    since = performance.now();
  }
  const more = found.length > limit;
  return { rows: found.slice(0, limit).map(context.watch.rowOf), more, searched, diagnostics: [] };
}

function takes(kept: Kept, filter: RowFilter | null): boolean {
  if (filter === null) return true;
  const { event } = kept;
  return event !== null && filter.takes(event.object);
}

/** Whether what a page shows has a text. Redacted values are not found: that would tell what they are. */
function hasText(kept: Kept, text: string, context: InspectorContext): boolean {
  const row = context.watch.rowOf(kept);
  const shown = [row.host, row.by, row.code, row.backend ?? '', row.clientIp, row.protocol];
  if (kept.kind === 'connection') return shown.some((each) => each.toLowerCase().includes(text));
  if ('target' in row)
    shown.push(row.method, row.target, String(row.status ?? ''), `${row.host}${row.target}`);
  if (shown.some((each) => each.toLowerCase().includes(text))) return true;
  const { request, response, forwards } = redactedRecord(kept.record(), context);
  const parts = [
    request.target,
    ...request.headers,
    request.body.text ?? '',
    ...(response === null ? [] : [...response.headers, response.body.text ?? '']),
  ];
  for (const each of forwards) parts.push(...each.headers, each.address, each.response?.body.text ?? '');
  return parts.some((each) => each.toLowerCase().includes(text));
}
