import { type Basis, pointerTo } from '../diagnostics/diagnostic.ts';
import type { EdgeConfig } from '../edge/document/schema.ts';
import { ACTION_FACTS, MODULE_FACTS } from '../filters/table.ts';
import type { PolicyDocument } from '../policy/document/document.ts';
import { actionFindings, removedBefore } from './action_findings.ts';
import { cellsOf } from './cells.ts';
import { ANALYSIS_CODES, type AnalysisCode } from './codes.ts';
import { comparedValues } from './compared_values.ts';
import { type ExaminedPolicy, expressionFindings } from './expression_findings.ts';
import { type Examined, type Found, cellsByRoute } from './finding.ts';
import { gateFindings, ruleGateFindings } from './gate_findings.ts';
import { Analysis, Model, modulesOf } from './model.ts';
import { headerFindings } from './header_findings.ts';
import { forwardedBefore, idleLimits, idleSettings, sameBackends, zeroWeights } from './idle_settings.ts';
import { patternFindings } from './pattern_findings.ts';
import { rangeFindings } from './range_findings.ts';
import {
  type FilterUse,
  type FindingOptions,
  deadBackends,
  redundantRoutes,
  settingFindings,
} from './setting_findings.ts';
import { gluedPaths, limitFindings, trustFindings } from './trust_findings.ts';
import { unreached } from './unreached.ts';
import type { Witness } from './witness.ts';

export type { FindingOptions } from './setting_findings.ts';

/** A part of a configuration that has no effect, or not the expected one. */
export interface AnalysisFinding {
  readonly code: AnalysisCode;
  readonly pointer: string;
  /** How it is known. */
  readonly basis: Basis;
  readonly message: string;
  /** Pointers of the parts that cause it, those that take most first. */
  readonly causes: readonly string[];
  /** Whether it is proved that nothing changes if the part is removed from its list. */
  readonly isRemovable: boolean;
  /** An expression that may take the place of the one at the pointer; null without one. */
  readonly shorter: { readonly from: string; readonly to: string } | null;
  /** A request that shows it, which the engine was run on. */
  readonly witness: Witness | null;
}

/**
 * What is without effect in a configuration, gates that requests go around, and settings with another effect than they seem
 * to have. The basis of each code (`codes.ts`) says whether it is proved, was run, or follows from the settings. What is
 * not decided is not reported.
 */
export function findings(config: EdgeConfig, options: FindingOptions = {}): readonly AnalysisFinding[] {
  const model = new Model(config, new Analysis());
  const examined: Examined = { model, cells: cellsByRoute(cellsOf([model])) };
  const policies = policiesOf(examined);
  const unreachedParts = unreached(examined, policies);
  const dead = new Set(unreachedParts.map(({ pointer }) => pointer));
  const uses = usesOf(model, policies);
  const found = [
    ...unreachedParts,
    ...redundantRoutes(model),
    ...patternFindings(uses),
    ...rangeFindings(model, uses),
    ...settingFindings(config, uses, options),
    ...deadBackends(config),
    ...zeroWeights(config),
    ...sameBackends(config),
    ...idleSettings(uses),
    ...gluedPaths(uses),
    ...limitFindings(uses),
    ...actionFindings(uses),
    ...policies.flatMap(trustFindings),
    ...policies.flatMap(comparedValues),
    ...policies.flatMap(removedBefore),
    ...policies.flatMap(idleLimits),
    ...policies.flatMap((policy) => forwardedBefore(policy, uses)),
    ...headerFindings(config, policies, uses),
    ...policies.flatMap((policy) => expressionFindings(policy, dead).concat(ruleGateFindings(policy, dead))),
    ...gateFindings(examined),
  ];
  return found
    .filter((each) => !isSaidElsewhere(each, found))
    .map(({ code, pointer, detail, causes = [], isRemovable = false, shorter = null, witness = null }) => {
      const { message, basis } = ANALYSIS_CODES[code];
      const particular = detail === undefined ? message : `${message.slice(0, -1)}: ${detail}.`;
      return { code, pointer, basis, message: particular, causes, isRemovable, shorter, witness };
    });
}

/** Whether a part of a route that stops all requests is a finding of its own. */
function isSaidElsewhere({ code, pointer }: Found, found: readonly Found[]): boolean {
  return (
    code === 'analysis.blocked_route' &&
    found.some((other) => STOPS_ALL.has(other.code) && other.pointer.startsWith(`${pointer}/`))
  );
}

const STOPS_ALL: ReadonlySet<AnalysisCode> = new Set(['analysis.blocks_all', 'analysis.always_true']);

/** What no request reaches: of a blocked route only its backend. */
type DeadKind = 'route' | 'rule' | 'action' | 'backend';

const DEAD_KINDS: Partial<Readonly<Record<AnalysisCode, DeadKind>>> = {
  'analysis.dead_route': 'route',
  'analysis.dead_rule': 'rule',
  'analysis.dead_action': 'action',
  'analysis.blocked_route': 'backend',
};

/** A route, a rule, an action or the backend of a route that no request reaches. */
export interface DeadPart {
  readonly kind: DeadKind;
  /** That of the route if its backend is dead. */
  readonly pointer: string;
  /** A sentence without its full stop. */
  readonly message: string;
  /** Pointers of the rules that take its requests. */
  readonly causes: readonly string[];
}

/** Routes, rules, actions and backends that no request reaches: each is proved. */
export function deadParts(config: EdgeConfig): readonly DeadPart[] {
  const model = new Model(config, new Analysis());
  const examined: Examined = { model, cells: cellsByRoute(cellsOf([model])) };
  return unreached(examined, policiesOf(examined)).flatMap(({ code, pointer, causes = [] }) => {
    const { message } = ANALYSIS_CODES[code];
    const kind = DEAD_KINDS[code];
    // Other spellings reach a dead path.
    return kind === undefined ? [] : [{ kind, pointer, message: message.replace(/\.$/, ''), causes }];
  });
}

/** The policies of routes that requests reach. */
function policiesOf({ model, cells }: Examined): readonly ExaminedPolicy[] {
  return [...cells].flatMap(([pointer, own]) => {
    const routed = own[0]!.routed[0]!;
    if (typeof routed !== 'object') return [];
    return modulesOf(routed.edge, routed.route).flatMap(({ type, config }): readonly ExaminedPolicy[] => {
      if (MODULE_FACTS.get(type)!.runsActions !== true) return [];
      const at = pointerTo(pointer, type);
      const text = (config as { readonly value: string }).value;
      const document = model.policyOf(config as never, at);
      if (document === null || !document.enabled) return [];
      return [{ place: { model, pointer: at, text }, document, cells: own }];
    });
  });
}

/** Everything that is configured on edges, routes and in policies. */
function usesOf(model: Model, policies: readonly ExaminedPolicy[]): readonly FilterUse[] {
  const { https, tls, tcp } = model.config.edges;
  const uses: FilterUse[] = [];
  for (const { name, pipelines } of model.compiled.https) {
    const edge = https[name];
    if (edge === undefined) continue;
    for (const [index, route] of edge.routes.entries())
      for (const { type, config } of modulesOf(edge, route))
        uses.push({
          face: 'module',
          type,
          config,
          pointer: pointerTo(pipelines[index]!.pointer, type),
          backend: route.backend?.backend_id ?? null,
        });
  }
  for (const [kind, edges] of [
    ['tls', tls],
    ['tcp', tcp],
  ] as const)
    for (const [name, edge] of Object.entries(edges))
      for (const [type, config] of Object.entries(edge))
        uses.push(...usesOfStream(model, type, config, pointerTo(pointerTo(`/edges/${kind}`, name), type)));
  for (const { document, cells } of policies) {
    const [routed] = cells[0]!.routed;
    const backend = typeof routed === 'object' ? (routed.route.backend?.backend_id ?? null) : null;
    uses.push(...usesOfPolicy(document, backend));
  }
  return uses;
}

function usesOfPolicy({ phases }: PolicyDocument, backend: string | null): readonly FilterUse[] {
  return Object.values(phases)
    .flat()
    .flatMap(({ actions }) => actions)
    .map(({ type, config, pointer }) => ({
      face: 'action',
      type,
      config,
      pointer: pointerTo(pointer, 'config'),
      backend,
    }));
}

/** What decides by addresses in a module of a TLS or TCP edge; the rest of such edges is not analysed. */
function usesOfStream(model: Model, type: string, config: unknown, pointer: string): readonly FilterUse[] {
  const facts = MODULE_FACTS.get(type);
  if (typeof config !== 'object' || config === null || facts === undefined) return [];
  if ((config as { readonly enabled?: boolean }).enabled === false) return [];
  if (facts.addressLists !== undefined) return [{ face: 'module', type, config, pointer, backend: null }];
  if (facts.runsActions !== true) return [];
  const document = model.policyOf(config as never, pointer, 'tls_edge');
  if (document === null || !document.enabled) return [];
  return usesOfPolicy(document, null).filter((use) => ACTION_FACTS.get(use.type)?.addressLists !== undefined);
}
