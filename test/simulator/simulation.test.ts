import { expect, it } from 'vitest';
import type { Diagnostic } from '../../src/diagnostics/diagnostic.ts';
import { checkScenario } from '../../src/simulator/document/check.ts';
import { compileSimulation, simulate } from '../../src/simulator/simulation.ts';
import { webhookSigner } from '../../src/simulator/webhook_signer.ts';
import { everyModule } from './every_module.ts';

it('a simulation logs people in once, and signs webhooks when they are sent', () => {
  const value = {
    edge: 'edge',
    identities: { alice: { teams: ['acme/platform'] } },
    simulation: {
      duration: '2h',
      arrivals: [
        { request: { path: '/team', as: 'alice' }, rate: 0.05, model: 'constant' },
        {
          request: { path: '/hook', body: '{}', sign: { provider: 'stripe', secret: 'whsec_c2VjcmV0' } },
          rate: 0.05,
          model: 'constant',
        },
      ],
    },
  };
  const checked = checkScenario({ value, name: 'x' });
  const findings: Diagnostic[] = [...checked.diagnostics];
  const { shell } = checked.scenario!;
  const setting = { checked, shell, edge: everyModule.config, signer: webhookSigner, seed: null };
  const compiled = compileSimulation(setting, findings);
  expect(findings).toEqual([]);
  const { statuses, reasons } = simulate(compiled!, everyModule, () => {});
  // 360 of each in two hours, and the two responses of one login.
  expect(Object.fromEntries(statuses)).toEqual({ 200: 720, 302: 2 });
  expect(Object.fromEntries(reasons)).toMatchObject({ 'oauth.login_started': 1, 'oauth.logged_in': 1 });
});
