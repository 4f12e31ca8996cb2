import { expect, test } from 'vitest';
import { checkWholeEdge } from '../../src/edge/semantic_checks.ts';
import { brandingOf } from '../../src/engine/branding.ts';
import type { EdgeKind } from '../../src/filters/phase.ts';
import { ACTION_FACTS, MODULE_FACTS } from '../../src/filters/table.ts';
import { checkPolicyValue } from '../../src/policy/document/check.ts';
import { PARTNERS_PEM } from './modules/authority.ts';

/** What the check says about a module's config, as errors and warnings. */
function findingsOfModule(type: string, edgeKind: EdgeKind, config: object): string[] {
  const { place } = MODULE_FACTS.get(type)!;
  const isOfEdge = place === 'edge' || edgeKind !== 'https';
  const backend = { backend: { backend_id: 'app' } };
  const modules = isOfEdge ? { [type]: config } : {};
  const edge =
    edgeKind === 'https'
      ? {
          hostports: ['shop.test:443'],
          ...modules,
          routes: [
            { match_type: 'path_prefix', match: '/', ...backend, ...(!isOfEdge && { [type]: config }) },
          ],
        }
      : { hostports: ['db.test:5432'], ...backend, ...modules };
  const value = {
    ip_policies: { office: { rules: [{ cidr: '203.0.113.0/24', action: 'allow' }] } },
    certificate_authorities: { partners: { ca_pem: PARTNERS_PEM } },
    backends: { app: { static: { address: '127.0.0.1:3000' } } },
    edges: { https: {}, [edgeKind]: { shop: edge } },
  };
  const { diagnostics } = checkWholeEdge({ value }, { nowMs: Date.parse('2026-11-01') });
  return diagnostics.map(({ code }) => code).filter((code) => !code.startsWith('edge.unused_'));
}

function findingsOfAction(type: string, config: object, phase: string): string[] {
  const policy = { [phase]: [{ actions: [{ type, config }] }] };
  const { diagnostics } = checkPolicyValue(policy, { branding: brandingOf('service') });
  return diagnostics.map(({ code }) => code).filter((code) => code !== 'policy.not_simulated');
}

const { errorCode } = brandingOf('service');
const codeOf = (finding: string | number): string =>
  typeof finding === 'number' ? errorCode(finding) : finding;
const MODULES = [...MODULE_FACTS.values()].map((facts) => [facts.type, facts] as const);
const ACTIONS = [...ACTION_FACTS.values()].map((facts) => [facts.type, facts] as const);

test.each(MODULES)('examples of module %s', (type, { examples, edgeKinds }) => {
  for (const config of examples.good) expect(findingsOfModule(type, edgeKinds[0]!, config)).toEqual([]);
  for (const { config, finding } of examples.bad)
    expect(findingsOfModule(type, edgeKinds[0]!, config)).toEqual([codeOf(finding)]);
});

test.each(ACTIONS)('examples of action %s', (type, { phases, examples }) => {
  // An example for connections is not one for requests.
  for (const config of examples.good)
    expect(phases.map((phase) => findingsOfAction(type, config, phase))).toContainEqual([]);
  for (const { config, finding } of examples.bad)
    expect(findingsOfAction(type, config, phases[0]!)).toEqual([codeOf(finding)]);
});

test('every module and action has good and bad examples', () => {
  const faces = [...MODULES, ...ACTIONS].map(([, facts]) => facts);
  const without = faces.filter(({ examples: { good, bad } }) => good.length === 0 || bad.length === 0);
  // Metadata of an identity provider is too long for an example.
  expect(without.map(({ type }) => type)).toEqual(['saml']);
});
