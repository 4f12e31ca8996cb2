import { type CallbackReach, isOfThisNetwork } from '../clients/callback_post.ts';
import { secretText } from '../crypto/random.ts';
import { sourceProblem } from '../events/sources.ts';
import type { AccountAgents } from './agents.ts';
import { fieldsOfResource, filterProblem } from './api/list_filter.ts';
import type { CertificateIssuer, Ports } from './resources/contract.ts';
import { endpoints } from './resources/endpoints.ts';
import type { KeptSamlKeys } from './saml_keys.ts';

export interface PortsOptions {
  readonly service?: string;
  /** Issues certificates of domains with a certificate management policy; default none. */
  readonly issuer?: CertificateIssuer;
  /** Folder for files of event destinations; absent: such destinations are refused. */
  readonly eventFiles?: string;
  /** Whether callbacks may reach this machine and its network; default false. */
  readonly allowPrivateCallbacks?: boolean;
}

/** What objects are completed with. */
export function portsOf(
  { service = 'service', issuer = NO_ISSUER, eventFiles, allowPrivateCallbacks = false }: PortsOptions,
  reach: CallbackReach,
  account: AccountAgents | null,
  samlKeys: KeptSamlKeys,
): Ports {
  return {
    service,
    issuer,
    isOnline: (id) => account?.online.list('endpoint', '').some((each) => each.id === id) === true,
    filterProblem: (text) => filterProblem(text, fieldsOfResource(endpoints)),
    secretText,
    allowsEventFiles: eventFiles !== undefined,
    refusesCallback: (host) => !allowPrivateCallbacks && isOfThisNetwork(host, reach),
    sourceProblem: sourceProblem as never,
    samlCertificate: (route) => samlKeys(route).certificatePem,
    tunnelsWith: account?.tunnelsWith ?? (() => []),
  };
}

const noIssuer = async (): Promise<never> => {
  throw new Error('this instance has no certificate authority');
};
const NO_ISSUER: CertificateIssuer = { serverCertificate: noIssuer, clientCertificate: noIssuer };
