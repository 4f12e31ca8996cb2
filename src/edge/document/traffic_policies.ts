import type { SoundConfig } from './edge_shape.ts';
import type { Report } from './report.ts';
import { routesOf } from './routes_of.ts';

/** Checks that each traffic policy is a JSON object. */
export function checkTrafficPolicies(config: SoundConfig, report: Report): void {
  for (const { pointer, thing: route } of routesOf(config)) {
    const value = route.traffic_policy?.value;
    const says = value === undefined ? null : problemOf(value);
    if (says !== null) report('edge.bad_policy', `${pointer}/traffic_policy/value`, says);
  }
}

function problemOf(value: string): string | null {
  try {
    const policy: unknown = JSON.parse(value);
    const isObject = typeof policy === 'object' && policy !== null && !Array.isArray(policy);
    return isObject ? null : 'the policy is JSON, but not an object';
  } catch {
    return 'the policy is not a JSON document';
  }
}
