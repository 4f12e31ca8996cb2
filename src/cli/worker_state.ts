import { placedAll } from '../coverage/placed_routes.ts';
import { pointerTo } from '../diagnostics/diagnostic.ts';
import type { Checked } from '../edge/document/check.ts';
import { routesOf } from '../edge/document/routes_of.ts';
import type { EdgeConfig } from '../edge/document/schema.ts';
import { internalAddressesOf, internalHostsOf } from '../edge/document/internal_hosts.ts';
import { brandingOf } from '../engine/branding.ts';
import { checkAttachedPolicy } from '../policy/document/check.ts';
import { ACTION_FACTS, MODULE_FACTS } from '../filters/table.ts';
import { FileError } from '../project_files/load_config.ts';

interface Place {
  readonly pointer: string;
  readonly what: string;
  readonly state: string;
}

/**
 * Throws FileError with all places when a configuration needs state that several processes would have to
 * share.
 */
export function refuseSharedState({ config, locate }: Checked, workers: number): void {
  const places = config === null ? [] : statefulPlaces(config);
  if (places.length === 0) return;
  const lines = places.map(({ pointer, what, state }) => {
    const at = locate(pointer);
    return `  ${at === null ? pointer : `${at.file}:${at.line}:${at.column}`}  ${what}: ${state}`;
  });
  const head = `--workers ${workers} cannot serve this file: these need state that processes do not share`;
  throw new FileError(`${head}\n${lines.join('\n')}\nleave --workers out`);
}

function statefulPlaces(config: EdgeConfig): readonly Place[] {
  const ofModules = routesOf(config).flatMap(({ pointer, thing }) =>
    Array.from(MODULE_FACTS.values()).flatMap(({ type, sharedState: state }) =>
      state !== undefined && isEnabled(thing, type)
        ? [{ pointer: pointerTo(pointer, type), what: `${type} of the route ${thing.match}`, state }]
        : [],
    ),
  );
  return [...ofModules, ...policyPlaces(config)];
}

function isEnabled(route: object, type: string): boolean {
  const own = (route as Readonly<Record<string, { readonly enabled: boolean } | undefined>>)[type];
  return own?.enabled === true;
}

function policyPlaces(config: EdgeConfig): readonly Place[] {
  const setting = {
    branding: brandingOf(config.service_name),
    ipPolicies: Object.keys(config.ip_policies),
    internalHosts: internalHostsOf(Object.values(config.edges.https)),
    internalAddresses: internalAddressesOf(config.edges),
  };
  return placedAll(config).flatMap(({ pointer, route: { traffic_policy: policy }, kind }) => {
    if (policy?.enabled !== true) return [];
    const at = `${pointer}/traffic_policy/value`;
    const attached = { pointer: at, text: policy.value };
    const { document } = checkAttachedPolicy(attached, { ...setting, attachedTo: `${kind}_edge` });
    if (document?.enabled !== true) return [];
    return Object.values(document.phases)
      .flat()
      .flatMap(({ name, index, phase, actions }) =>
        actions.flatMap(({ type }) => {
          const state = ACTION_FACTS.get(type)?.sharedState;
          const rule = name === null ? `rule ${index + 1} of ${phase}` : `the rule '${name}'`;
          return state === undefined ? [] : [{ pointer: at, what: `${type} of ${rule}`, state }];
        }),
      );
  });
}
