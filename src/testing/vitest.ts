/**
 * For tests with Vitest: `expect.extend(edgeMatchers)` once, in a setup file or a test, and
 * `await scenarioTests(file, { describe, it })`. Importing this types the matchers.
 */
// oxlint-disable-next-line import/no-empty-named-blocks, unicorn/require-module-specifiers -- nothing is taken from it; the declarations below extend it
import type {} from 'vitest';
import type { Denial, EventFields, UpstreamFields } from './matchers.ts';

export { edgeMatchers } from './matchers.ts';
export type { Denial, EventFields, MatcherResult, UpstreamFields } from './matchers.ts';
export type { Testable } from './received.ts';
export { scenarioTests } from './scenario_tests.ts';
export type { Runner, ScenarioTestOptions } from './scenario_tests.ts';

declare module 'vitest' {
  // The type parameters are those of Vitest's own declaration.
  interface Matchers<R extends void | Promise<void>, T> {
    /** A module by name, a reason code, or parts of both; without one, any denial. */
    toBeDeniedBy: (by?: string | Denial) => R;
    /** What a module has decided, as events have it. */
    toHaveDecision: (module: string, decision: string) => R;
    /** Fields of the event, by dotted names; a subset. */
    toHaveEvent: (fields: EventFields) => R;
    /** A response header; null for one that must not be there. */
    toHaveResponseHeader: (name: string, value?: string | RegExp | null) => R;
    toHaveStatus: (status: number) => R;
    /** Some backend, or the one of this name. */
    toReachBackend: (name?: string) => R;
    /** A redirect with this `Location`. */
    toRedirectTo: (location: string | RegExp) => R;
    /** What the upstream saw; for what a simulator has sent. */
    toShowUpstream: (fields: UpstreamFields) => R;
  }
}
