import { atOnce } from '../config_file/steps.ts';
import type { Linked, Module } from '../engine/module.ts';
import { LARGE_POLICY, POLICY_REASONS } from './facts.ts';
import type { PolicyCode } from './verdicts.ts';
import { type PolicyLinks, trafficPolicyCompilation } from './module_compile.ts';
import type { TrafficPolicyConfig } from './module_schema.ts';

export type { PolicyLinks };

/** Applies the rules of a traffic policy on a connection, or in the request and response phases. */
export const trafficPolicy: Module<TrafficPolicyConfig, PolicyCode> = {
  type: 'traffic_policy',
  reasons: POLICY_REASONS,
  compile: (config, linked: Linked & PolicyLinks) => atOnce(trafficPolicyCompilation(config, linked)),
  compilation: {
    isLarge: ({ value }) => value.length >= LARGE_POLICY,
    compile: (config, linked: Linked & PolicyLinks) => trafficPolicyCompilation(config, linked),
  },
};
