import { parse } from '../cel/program.ts';
import { pointerTo } from '../diagnostics/diagnostic.ts';
import type { EdgeConfig } from '../edge/document/schema.ts';
import { isEnforced } from '../filters/gates.ts';
import { whenEnds } from '../filters/facts.ts';
import { ACTION_FACTS, MODULE_FACTS } from '../filters/table.ts';
import type { ExaminedPolicy } from './expression_findings.ts';
import type { Found } from './finding.ts';
import { canonical } from './model.ts';
import type { FilterUse } from './setting_findings.ts';

/** Replacements that change nothing, and limits that all clients share. */
export function idleSettings(uses: readonly FilterUse[]): readonly Found[] {
  return uses.flatMap(({ face, type, config, pointer }): readonly Found[] => {
    const facts = face === 'action' ? ACTION_FACTS.get(type) : undefined;
    const found: Found[] = [];
    const edit = facts?.replacesInUrl?.(config as never);
    if (edit !== undefined && edit.from !== null && isWhatIsFound(edit.from, edit.to))
      found.push({ code: 'analysis.idle_replacement', pointer: pointerTo(pointer, 'to') });
    const key = facts?.countsBy?.(config as never);
    if (key !== undefined && key.every(isConstant))
      found.push({ code: 'analysis.shared_limit', pointer, detail: key.map((each) => `\`${each}\``).join() });
    return found;
  });
}

/** Limits that an earlier one of the same policy never lets requests reach: it has the same key, and allows no more. */
export function idleLimits({ document }: ExaminedPolicy): readonly Found[] {
  const limits = document.phases.on_http_request.flatMap(({ expressions, actions }) =>
    actions.flatMap(({ type, config, pointer }) => {
      const facts = ACTION_FACTS.get(type)!;
      if (facts.countsBy === undefined || !isEnforced(facts, config)) return [];
      const { capacity, name: _, ...rest } = config as Readonly<Record<string, unknown>>;
      const when = expressions.map(({ text }) => text.trim());
      return [{ capacity: Number(capacity), same: canonical(rest), when, pointer }];
    }),
  );
  return limits.flatMap(({ capacity, same, when, pointer }, at): readonly Found[] => {
    const stricter = limits
      .slice(0, at)
      .find(
        (each) =>
          each.same === same && each.capacity <= capacity && each.when.every((one) => when.includes(one)),
      );
    return stricter === undefined
      ? []
      : [{ code: 'analysis.idle_limit', pointer, causes: [stricter.pointer] }];
  });
}

/** Types of modules that requests reach behind the policy of their route, and before its backend. */
const BEFORE_BACKEND: ReadonlySet<string> = (() => {
  const all = Array.from(MODULE_FACTS.values());
  const policy = all.findIndex(({ runsActions }) => runsActions === true);
  const backend = all.findIndex(({ choosesBackend }) => choosesBackend !== undefined);
  return new Set(all.slice(policy + 1, backend).map(({ type }) => type));
})();

/** Modules between a policy that forwards all requests to another endpoint, and the backend of its route. */
export function forwardedBefore(
  { place, document }: ExaminedPolicy,
  uses: readonly FilterUse[],
): readonly Found[] {
  const forward = document.phases.on_http_request
    .filter(({ expressions }) => expressions.length === 0)
    .flatMap(({ actions }) => actions)
    .find(({ type, config }) => {
      const facts = ACTION_FACTS.get(type)!;
      return facts.ends.how.includes('forwarded') && whenEnds(facts, config) === 'always';
    });
  if (forward === undefined) return [];
  const route = place.pointer.slice(0, place.pointer.lastIndexOf('/'));
  return uses.flatMap(({ face, type, pointer }): readonly Found[] =>
    face === 'module' && BEFORE_BACKEND.has(type) && pointer === pointerTo(route, type)
      ? [{ code: 'analysis.forwarded_before', pointer, causes: [forward.pointer] }]
      : [],
  );
}

/** Backends with a weight of 0 beside others that have one. */
export function zeroWeights({ backends }: EdgeConfig): readonly Found[] {
  return Object.entries(backends).flatMap(([name, { weighted = {} }]) => {
    const weights = Object.entries(weighted);
    // Without any weight no backend is chosen, which is a finding of its own.
    if (weights.every(([, weight]) => weight === 0)) return [];
    const pointer = pointerTo(pointerTo('/backends', name), 'weighted');
    return weights.flatMap(([child, weight]): readonly Found[] =>
      weight === 0 ? [{ code: 'analysis.zero_weight', pointer: pointerTo(pointer, child) }] : [],
    );
  });
}

/** Parts of a backend that are the same server, so that it makes no difference which one is chosen. */
export function sameBackends({ backends }: EdgeConfig): readonly Found[] {
  const serverOf = (name: string): string => canonical(backends[name]?.static ?? name);
  return Object.entries(backends).flatMap(([name, { weighted, failover }]) => {
    const member = weighted === undefined ? 'failover' : 'weighted';
    const parts = weighted === undefined ? (failover ?? []) : Object.keys(weighted);
    const pointer = pointerTo(pointerTo('/backends', name), member);
    const servers = new Set<string>();
    return parts.flatMap((part, at): readonly Found[] => {
      const server = serverOf(part);
      const isFirst = !servers.has(server);
      servers.add(server);
      return isFirst || weighted?.[part] === 0
        ? []
        : [
            {
              code: 'analysis.same_backend',
              pointer: pointerTo(pointer, weighted === undefined ? at : part),
            },
          ];
    });
  });
}

function isConstant(source: string): boolean {
  const parsed = parse(source);
  return 'ast' in parsed && parsed.ast.root.kind === 'literal';
}

/** One token of a pattern without operators: a group, an escaped character, or a character. */
const TOKEN = /\((?:[^()\\]|\\.)*\)(?![*+?{])|\\[^A-Za-z0-9]|[^\\()[\]{}*+?|^$]/gy;

/** Whether a replacement puts back each text that its pattern, a row of characters and groups, finds. */
function isWhatIsFound(from: string, to: string): boolean {
  if (to.includes('${')) return false;
  if (/^\$0(?!\d)$/.test(to)) return true;
  const pattern = from.replace(/^\^/, '').replace(/(?<!\\)\$$/, '');
  let [at, groups, same] = [0, 0, ''];
  for (const [token] of pattern.matchAll(TOKEN)) {
    at += token.length;
    if (token.startsWith('(?')) return false;
    if (token.startsWith('(')) same += `$${++groups}`;
    else same += token.startsWith('\\') ? token.slice(1) : token;
  }
  // A digit behind a reference would belong to it.
  return at === pattern.length && at > 0 && same === to && !/\$\d+\w/.test(same);
}
