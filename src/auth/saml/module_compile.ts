import type { Handler } from '../../engine/contract.ts';
import type { Linked } from '../../engine/module.ts';
import { endpointAddresses, serviceAddresses } from './addresses.ts';
import { isMetadataProblem, readMetadata } from './metadata.ts';
import { samlProvider } from './provider.ts';
import type { LoginMemory } from '../memory.ts';
import type { SamlSettings } from './settings.ts';
import { type LoginLinks, gateHandler, linkedLogin } from '../module_gate.ts';
import type { SamlConfig } from './module_schema.ts';

/** Creates the handler of a gate. */
export function compileSaml(config: SamlConfig, linked: Linked & LoginLinks): Handler<LoginMemory> {
  const login = linkedLogin(linked);
  const provider = samlProvider(samlSettings(config, linked.branding.service, login));
  return gateHandler('saml', config, { ...linked, login }, provider, { givesTokens: false });
}

/** The settings of a gate. Throws if the metadata did not pass the check. */
export function samlSettings(
  config: SamlConfig,
  service: string,
  { gate, routeId, developmentSaml, takesOver, samlKeys }: ReturnType<typeof linkedLogin>,
): SamlSettings {
  const given = readMetadata(config.idp_metadata);
  if (isMetadataProblem(given)) throw new Error(`the metadata ${given.problems[0]!.message}`);
  const development = developmentSaml === null ? null : readMetadata(developmentSaml());
  const isDevelopment =
    development !== null &&
    !isMetadataProblem(development) &&
    (takesOver || development.entityId === given.entityId);
  const metadata = isDevelopment ? development : given;
  return {
    metadata,
    forceAuthn: config.force_authn,
    allowIdpInitiated: config.allow_idp_initiated,
    authorizedGroups: config.authorized_groups,
    nameIdFormat: config.nameid_format,
    // The service's own host is not one of this machine.
    addresses: routeId === null || takesOver ? endpointAddresses : () => serviceAddresses(service, routeId),
    signing: (nowMs) => samlKeys(routeId ?? gate, nowMs),
  };
}
