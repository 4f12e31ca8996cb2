/**
 * For tests with Vitest: `expect.extend(edgeMatchers)` once, in a setup file or a test, and `await
 * scenarioTests(file, { describe, it })`. Importing this module adds the types of the matchers.
 */
// oxlint-disable-next-line import/no-empty-named-blocks, unicorn/require-module-specifiers -- imports nothing; the declarations below extend it
import type {} from 'vitest';
import type { Denial, EventFields, UpstreamFields } from './matchers.ts';

export { edgeMatchers } from './matchers.ts';
export type { Denial, EventFields, MatcherResult, UpstreamFields } from './matchers.ts';
export type { Testable } from './received.ts';
export { scenarioTests } from './scenario_tests.ts';
export type { Runner, ScenarioTestOptions } from './scenario_tests.ts';

declare module 'vitest' {
  // The type parameters repeat Vitest's own declaration.
  interface Matchers<R extends void | Promise<void>, T> {
    /** A module by name, a reason code, or parts of both; without an argument, any denial. */
    toBeDeniedBy: (by?: string | Denial) => R;
    /** The decision of a module, as in events. */
    toHaveDecision: (module: string, decision: string) => R;
    /** A subset of the event's fields, by dotted names. */
    toHaveEvent: (fields: EventFields) => R;
    /** A response header; null for one that must be absent. */
    toHaveResponseHeader: (name: string, value?: string | RegExp | null) => R;
    toHaveStatus: (status: number) => R;
    /** Any backend, or the one with this name. */
    toReachBackend: (name?: string) => R;
    /** A redirect with this `Location`. */
    toRedirectTo: (location: string | RegExp) => R;
    /** The request that the upstream received; for results of a simulator. */
    toShowUpstream: (fields: UpstreamFields) => R;
  }
}
