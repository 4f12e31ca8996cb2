/** For tests with node:test: `await scenarioTests(file, { describe, it })`. */
export { scenarioTests } from './scenario_tests.ts';
export type { Runner, ScenarioTestOptions } from './scenario_tests.ts';
