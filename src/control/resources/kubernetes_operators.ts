import * as z from 'zod';
import { keyOfSigningRequest } from '../../crypto/signing_request.ts';
import { readCertificate } from '../../crypto/x509.ts';
import { seconds } from './certificates.ts';
import type { Body, Completed, Draft } from './contract.ts';
import { field, notes, resource } from './fields.ts';
import { COMMON, refusedValue } from './problem.ts';
import { person, updatedAt } from './vaults.ts';

const text = (describes: string) => z.string().max(255).describe(describes);

const deploymentUpdate = z.strictObject({ name: text('Name.'), version: text('Version of the operator.') });
const deployment = deploymentUpdate
  .extend({ namespace: text('Kubernetes namespace.'), cluster_name: text('Name of the cluster.') })
  .describe('Deployment of the operator; only name and version can be changed.');

const SELECTORS_LIMIT = 100;
const REQUEST_LIMIT = 32_768;

const binding = z
  .strictObject({
    endpoint_selectors: z
      .array(z.string().min(1))
      .max(SELECTORS_LIMIT)
      .describe('Expressions over an endpoint, as for the filter of a list; one must be true.'),
    csr: z.string().max(REQUEST_LIMIT).describe('PEM certificate signing request; never returned.'),
    ingress_endpoint: text('Ingress endpoint of the operator.'),
  })
  .describe('Settings of the feature bindings.');

/** The binding of an operator, as stored. */
export interface Binding {
  readonly endpoint_selectors?: readonly string[];
}

const bindingShown = z.object({
  endpoint_selectors: z.array(z.string()),
  cert: z.object({ cert: z.string(), not_before: z.string(), not_after: z.string() }),
  ingress_endpoint: z.string(),
});

const NO_DEPLOYMENT = { name: '', namespace: '', version: '', cluster_name: '' };
const NO_BINDING = {
  endpoint_selectors: [],
  cert: { cert: '', not_before: '', not_after: '' },
  ingress_endpoint: '',
};

async function completeOperator(draft: Draft): Promise<Completed> {
  const { body, before, given, principal, now } = draft;
  const features = body['enabled_features'] as readonly string[];
  const members = Object.keys(given['deployment'] ?? {});
  const fixed = members.find((name) => before !== null && !(name in deploymentUpdate.shape));
  if (fixed !== undefined)
    throw refusedValue(COMMON.unknownField, `/deployment/${fixed}`, `${fixed} cannot be changed.`);
  if (given['binding'] !== undefined && !features.includes('bindings'))
    throw refusedValue(COMMON.badValue, '/binding', "The feature 'bindings' is not enabled.");
  const { binding: _, ...others } = body;
  return {
    body: {
      ...others,
      ...(features.includes('bindings') && { binding: await bindingOf(draft) }),
      deployment: { ...NO_DEPLOYMENT, ...(before?.['deployment'] as Body), ...(given['deployment'] as Body) },
      principal: before?.['principal'] ?? principal.id,
      updated_at: now,
    },
  };
}

/** The binding, with a certificate for the key of a given signing request. */
async function bindingOf({ id, before, given, ports }: Draft): Promise<Body> {
  const { csr = '', ...values } = (given['binding'] ?? {}) as Body;
  const selectors = (values['endpoint_selectors'] ?? []) as readonly string[];
  for (const [index, selector] of selectors.entries()) {
    const problem = ports.filterProblem(selector);
    if (problem !== null)
      throw refusedValue(COMMON.badValue, `/binding/endpoint_selectors/${index}`, `${problem}.`);
  }
  const kept = { ...NO_BINDING, ...(before?.['binding'] as Body), ...values };
  if (csr === '') return kept;
  const key = keyOfSigningRequest(String(csr));
  if (key === null)
    throw refusedValue(COMMON.badValue, '/binding/csr', 'This is not a signed PEM certificate request.');
  const cert = await ports.issuer.clientCertificate(id, key);
  const facts = readCertificate(cert);
  if ('problem' in facts) throw new Error(`the issuer's certificate is ${facts.problem}`);
  const [from, to] = [seconds(facts.notBeforeMs), seconds(facts.notAfterMs)];
  return { ...kept, cert: { cert, not_before: from, not_after: to } };
}

export const kubernetesOperators = resource({
  kind: 'kubernetes_operator',
  title: 'Kubernetes operator',
  path: '/kubernetes_operators',
  prefix: 'k8sop',
  listKey: 'operators',
  fields: {
    ...notes(),
    enabled_features: field(
      z.array(z.enum(['bindings', 'ingress', 'gateway'])).describe('Enabled features.'),
      { standard: [] },
    ),
    region: field(text('Region of the ingress.'), { standard: 'global' }),
    deployment: {
      ...field(deployment.partial()),
      read: { schema: deployment, show: (value) => value },
    },
    binding: {
      ...field(binding.partial()),
      read: { schema: bindingShown.nullable(), show: (value) => value ?? null },
    },
    principal: person,
    updated_at: updatedAt,
  },
  complete: completeOperator,
});
