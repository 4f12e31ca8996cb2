import { pointerTo } from '../diagnostics/diagnostic.ts';
import { firstValue } from '../http/fields.ts';
import { isEnforced, isGuard } from '../filters/gates.ts';
import { ACTION_FACTS } from '../filters/table.ts';
import type { Action } from '../policy/document/document.ts';
import type { ExaminedPolicy } from './expression_findings.ts';
import type { Found } from './finding.ts';
import type { FilterUse } from './setting_findings.ts';

/** Redirects that lead nowhere, and credentials in logs. */
export function actionFindings(uses: readonly FilterUse[]): readonly Found[] {
  return uses.flatMap(({ face, type, config, pointer }): readonly Found[] => {
    const facts = face === 'action' ? ACTION_FACTS.get(type) : undefined;
    if (facts === undefined) return [];
    const found: Found[] = [];
    const secret = facts.onlyLogs === true ? SECRET.exec(JSON.stringify(config)) : null;
    if (secret !== null)
      found.push({ code: 'analysis.logs_secret', pointer, detail: `\`${secret[1] ?? secret[0]}\`` });
    const edit = facts.replacesInUrl?.(config as never);
    if (edit !== undefined && !facts.ends.how.every((how) => how !== 'redirected') && isBroken(edit))
      found.push({
        code: 'analysis.broken_redirect',
        pointer: pointerTo(pointer, 'to'),
        detail: `\`${edit.to}\``,
      });
    const { status_code: status, headers } = config as Readonly<Record<string, unknown>>;
    if (facts.ends.how.includes('answered') && REDIRECTS.has(status) && !hasLocation(headers))
      found.push({
        code: 'analysis.broken_redirect',
        pointer,
        detail: `${String(status)} without \`location\``,
      });
    return found;
  });
}

/** Header fields with credentials, in templates. */
const SECRET =
  /\$\{[^}]*?\\?["'](authorization|proxy-authorization|cookie|x-api-key)\\?["']|\$\{[^}]*?(?:getReqCookie|req\.cookies)/i;
const REDIRECTS: ReadonlySet<unknown> = new Set([301, 302, 303, 307, 308]);

function hasLocation(headers: unknown): boolean {
  const fields = Object.entries((headers ?? {}) as Readonly<Record<string, string>>).flat();
  return firstValue(fields, 'location') !== undefined;
}

/** Whether a redirect leads to a host without its scheme, or makes another scheme of `https`. */
function isBroken({ from, to }: { readonly from: string | null; readonly to: string }): boolean {
  if (from === null) return /^[a-z0-9-]+(?:\.[a-z0-9-]+)+(?:[/:?]|$)/i.test(to);
  return from === 'http' && /^https?$/.test(to);
}

/** Gates that ask for a header which an earlier action has removed. */
export function removedBefore({ document }: ExaminedPolicy): readonly Found[] {
  const actions = document.phases.on_http_request.flatMap(({ expressions, actions: own }) =>
    own.map((action) => ({ action, isAlways: expressions.every(({ text }) => text.trim() === 'true') })),
  );
  return actions.flatMap(({ action }, at): readonly Found[] => {
    const asked = headersAsked(action);
    const remover = actions
      .slice(0, at)
      .find(
        ({ action: before, isAlways }) => isAlways && removedBy(before).some((name) => asked.includes(name)),
      );
    if (remover === undefined) return [];
    return [{ code: 'analysis.removed_before', pointer: action.pointer, causes: [remover.action.pointer] }];
  });
}

/** The only header fields that a gate reads. */
function headersAsked({ type, config }: Action): readonly string[] {
  const facts = ACTION_FACTS.get(type)!;
  if (!isGuard(facts, config) || !isEnforced(facts, config)) return [];
  const reads = typeof facts.reads === 'function' ? facts.reads(config as never) : facts.reads;
  const headers = reads.flatMap((each) => (typeof each === 'object' ? [each.header.toLowerCase()] : []));
  return headers.length === 1 ? headers : [];
}

function removedBy({ type, config }: Action): readonly string[] {
  const removed = ACTION_FACTS.get(type)!.removes?.(config as never).request ?? [];
  return removed.map((name) => name.toLowerCase());
}
