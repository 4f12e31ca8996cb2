import { type Node, childrenOf, walkNodes } from '../cel/ast.ts';
import { parse } from '../cel/program.ts';
import { whenEnds } from '../filters/facts.ts';
import { isEnforced, isGuard } from '../filters/gates.ts';
import { ACTION_FACTS } from '../filters/table.ts';
import { pointerTo } from '../diagnostics/diagnostic.ts';
import type { Rule } from '../policy/document/document.ts';
import type { ExaminedPolicy } from './expression_findings.ts';
import type { Found } from './finding.ts';
import type { FilterUse } from './setting_findings.ts';

/** Conditions on what clients choose themselves: forged addresses, origins that only look right, names in one letter case. */
export function trustFindings(policy: ExaminedPolicy): readonly Found[] {
  const { document } = policy;
  const { on_http_request: requests, on_http_response: responses } = document.phases;
  return [
    ...[...requests, ...responses].flatMap(({ expressions }) =>
      expressions.flatMap(({ text, pointer }) => [...ofOrigins(text, pointer), ...ofEndings(text, pointer)]),
    ),
    ...requests.flatMap((rule) => [...forged(rule), ...ofOneCase(rule)]),
    ...responses.flatMap((rule) => lateGates(rule)),
    ...drawnAgain(requests),
    ...unreadResults(policy),
  ];
}

/** Header fields that proxies set, and clients, too. */
const FORGED =
  /["'](x-forwarded-(?:for|host|proto|port)|x-real-ip|forwarded|true-client-ip|x-client-ip|cf-connecting-ip)["']/i;

/** What clients change at will, and what nothing else of a request has to do with. */
const CHOSEN =
  /^\s*(req\.(?:user_agent|url\.query|url\.raw_path|url))\s*$|["'](x-(?:user|client|session|device|account|tenant)(?:-id)?)["']|\b(getReqCookie|req\.cookies)\b/i;

/** Whether a header field by its name says who the client is, or where it comes from, without a secret in it. */
export function saysWho(name: string): boolean {
  return (
    /^x-(?:is-)?(?:internal|admin|trusted|authenticated|authori[sz]ed|user|role|group|account)s?(?:-|$)|^(?:x-)?(?:remote|forwarded)-user$/i.test(
      name,
    ) && !/(?:key|token|secret|signature|password|auth)$/i.test(name)
  );
}

function forged({ expressions, actions }: Rule): readonly Found[] {
  if (!actions.some(({ type, config }) => isGuard(ACTION_FACTS.get(type)!, config))) return [];
  return expressions.flatMap(({ text, pointer }): readonly Found[] => {
    const name = FORGED.exec(text)?.[1];
    return name === undefined ? [] : [{ code: 'analysis.forged_field', pointer, detail: `\`${name}\`` }];
  });
}

/** Limits that clients choose the key of, and keys that no two requests share. */
export function limitFindings(uses: readonly FilterUse[]): readonly Found[] {
  return uses.flatMap(({ face, type, config, pointer }): readonly Found[] => {
    const keys = face === 'action' ? ACTION_FACTS.get(type)?.countsBy?.(config as never) : undefined;
    return (keys ?? []).flatMap((key): readonly Found[] => {
      const chosen = keys!.length === 1 ? CHOSEN.exec(key)?.slice(1) : undefined;
      const name = FORGED.exec(key)?.[1] ?? chosen?.find((each) => each !== undefined);
      if (name !== undefined) return [{ code: 'analysis.forged_field', pointer, detail: `\`${name}\`` }];
      return /\bconn\.client_port\b|\brand\.|\btime\.now\b|\breq\.ts\b/.test(key)
        ? [{ code: 'analysis.scattered_limit', pointer, detail: `\`${key}\`` }]
        : [];
    });
  });
}

/** What an expression of the response phase reads besides the request. */
const LATER = /\b(?:res|actions|vars|time|rand)\.|Res(?:Header|Cookie)/;

/** Actions of the response phase that decide by what was known of the request. */
function lateGates({ expressions, actions }: Rule): readonly Found[] {
  const isKnown = expressions.length > 0 && !expressions.some(({ text }) => LATER.test(text));
  return actions.flatMap(({ type, config, pointer }): readonly Found[] => {
    const facts = ACTION_FACTS.get(type)!;
    const { status_code: status } = config as { readonly status_code?: unknown };
    const refuses = isKnown && facts.ends.how.includes('answered') && REFUSALS.has(status);
    return refuses || (facts.addressLists !== undefined && isEnforced(facts, config))
      ? [{ code: 'analysis.late_gate', pointer }]
      : [];
  });
}

const REFUSALS: ReadonlySet<unknown> = new Set([401, 403, 405, 407, 429]);

/** Actions that only report, and whose result nothing in the policy reads. */
function unreadResults({ document }: ExaminedPolicy): readonly Found[] {
  const rules = Object.values(document.phases).flat();
  const texts = rules.map(({ expressions, actions }) =>
    JSON.stringify([expressions.map(({ text }) => text), actions.map(({ config }) => config)]),
  );
  return rules
    .flatMap(({ actions }) => actions)
    .flatMap(({ type, config, pointer }): readonly Found[] => {
      const name = ACTION_FACTS.get(type)!.result?.name;
      const isOff = (config as { readonly enforce?: boolean }).enforce === false;
      if (!isOff || name === undefined) return [];
      const reads = new RegExp(`\\bactions\\b.*\\b${name}\\b`, 's');
      return texts.some((each) => reads.test(each)) ? [] : [{ code: 'analysis.unread_result', pointer }];
    });
}

const DRAWN = /^\s*rand\.double\(\)\s*(<=?|>=?)\s*([\d.]+)\s*$/;

/** Rules that each draw a number, and compare it with the same bound on opposite sides. */
function drawnAgain(rules: readonly Rule[]): readonly Found[] {
  const drawn = rules.flatMap(({ expressions }) =>
    expressions.flatMap(({ text, pointer }) => {
      const [, order, bound] = DRAWN.exec(text) ?? [];
      return order === undefined ? [] : [{ isBelow: order.startsWith('<'), bound: Number(bound), pointer }];
    }),
  );
  return drawn.flatMap(({ isBelow, bound, pointer }, at): readonly Found[] => {
    const earlier = drawn.slice(0, at).find((each) => each.bound === bound && each.isBelow !== isBelow);
    return earlier === undefined
      ? []
      : [{ code: 'analysis.drawn_again', pointer, causes: [earlier.pointer] }];
  });
}

/** An unescaped dot between the labels of a name. */
const BARE_DOT = /[a-z0-9](?<!\\[a-z])\.(?=[a-z])/i;
const ONE_ORIGIN = /^https?:\/\/[^/]+$/i;

/** Tests of the origin or the referer that another site's name can pass. */
function ofOrigins(text: string, pointer: string): readonly Found[] {
  const field = /["'](origin|referer)["']/i.exec(text)?.[1]?.toLowerCase();
  const parsed = field === undefined ? undefined : parse(text);
  if (parsed === undefined || !('ast' in parsed)) return [];
  const found: Found[] = [];
  walkNodes(parsed.ast.root, (node) => {
    const constant = testOf(node);
    if (constant === null || !/[a-z0-9]\.[a-z]|\[\.\]|\\\./i.test(constant.text)) return;
    const { name, text: tested } = constant;
    if (name === 'matches' && BARE_DOT.test(tested))
      found.push({ code: 'analysis.unescaped_dot', pointer, detail: `\`${tested}\`` });
    if (isOpen(name, tested, field!))
      found.push({ code: 'analysis.unanchored_pattern', pointer, detail: `\`${tested}\`` });
  });
  return found.slice(0, 1);
}

/** An unescaped dot before the name of a kind of files, at the end of a pattern. */
const BARE_ENDING = /(?<!\\)\.(?:[a-z][a-z0-9]{1,4}|\((?:\?:)?[a-z][a-z0-9|]+\))\$$/i;

function ofEndings(text: string, pointer: string): readonly Found[] {
  const parsed = text.includes('$') ? parse(text) : null;
  if (parsed === null || !('ast' in parsed)) return [];
  const found: Found[] = [];
  walkNodes(parsed.ast.root, (node) => {
    const constant = testOf(node);
    if (
      constant?.name !== 'matches' ||
      !BARE_ENDING.test(constant.text) ||
      ONE_ORIGIN.test(constant.text.slice(1))
    )
      return;
    found.push({ code: 'analysis.unescaped_dot', pointer, detail: `\`${constant.text}\`` });
  });
  return found.slice(0, 1);
}

/** A test of a text against a constant. */
function testOf(node: Node): { readonly name: string; readonly text: string } | null {
  if (node.kind !== 'call' || node.target === undefined) return null;
  const [argument] = node.args;
  if (argument?.kind !== 'literal' || typeof argument.value !== 'string') return null;
  return { name: node.name, text: argument.value };
}

/** Whether a test of an origin, or of a URL, leaves out an end of the host. */
function isOpen(name: string, text: string, field: string): boolean {
  if (name === 'contains') return true;
  if (name === 'startsWith') return ONE_ORIGIN.test(text);
  if (name === 'endsWith') return !/^(?:\.|https?:)/i.test(text);
  if (name !== 'matches') return false;
  const isFromStart = /^(?:\^|\\A)/.test(text);
  const isToEnd = /(?:\$|\\z)$/.test(text) || (field === 'referer' && /:\/\/.*\//.test(text));
  return !isFromStart || !isToEnd;
}

const NAMES_OF_AGENTS = /^\^?[a-z][a-z0-9_-]{2,}(?:\|\^?[a-z][a-z0-9_-]{2,})*$/;

/** Names of agents that are denied in lower case only, as in the lists of a module. */
function ofOneCase({ expressions, actions }: Rule): readonly Found[] {
  const denies = actions.some(({ type, config }) => {
    const facts = ACTION_FACTS.get(type)!;
    return facts.ends.how.includes('denied') && whenEnds(facts, config) === 'always';
  });
  if (!denies) return [];
  return expressions.flatMap(({ text, pointer }): readonly Found[] => {
    const parsed = parse(text);
    const names = 'ast' in parsed ? deniedAgents(parsed.ast.root, text) : [];
    return names.map((name) => ({ code: 'analysis.pattern_of_case', pointer, detail: `\`${name}\`` }));
  });
}

/** Constants that make a condition true if the agent as sent contains them. */
function deniedAgents(node: Node, source: string): readonly string[] {
  if (node.kind === 'logic') return childrenOf(node).flatMap((each) => deniedAgents(each, source));
  const test = testOf(node);
  if (test === null || node.kind !== 'call' || !['contains', 'matches'].includes(test.name)) return [];
  const { span } = node.target!;
  return source.slice(span.start, span.end) === 'req.user_agent' && NAMES_OF_AGENTS.test(test.text)
    ? [test.text]
    : [];
}

/** The pointer of a replacement that joins two parts of a path. */
export function gluedPaths(uses: readonly FilterUse[]): readonly Found[] {
  return uses.flatMap(({ face, type, config, pointer }): readonly Found[] => {
    const edit = face === 'action' ? ACTION_FACTS.get(type)?.replacesInUrl?.(config as never) : undefined;
    if (edit === undefined || edit.from === null) return [];
    // The slash that is found is not put back before what follows it.
    const rest = /\/(\(\.[*+]\)\$?)?$/.exec(edit.from);
    if (rest === null) return [];
    const kept = rest[1] === undefined ? edit.to : /^(.*)\$1$/.exec(edit.to)?.[1];
    if (kept === undefined || !/\/[^/]*[\w-]$/.test(kept)) return [];
    return [{ code: 'analysis.glued_path', pointer: pointerTo(pointer, 'to'), detail: `\`${edit.to}\`` }];
  });
}
