import type { Pass } from '../../engine/contract.ts';
import type { Endpoint } from '../../engine/questions.ts';
import { type Module, noEndpoint, tunnelOf } from '../../engine/module.ts';
import type { BackendModuleConfig } from './module_schema.ts';
import { reasons } from './facts.ts';

type Code = keyof typeof reasons;

/** Chooses the backend; the last module of the request phase. */
export const backend: Module<BackendModuleConfig, Code> = {
  type: 'backend',
  reasons,
  compile: (config, linked) => {
    const linkedBackend = linked.backend(config.backend_id);
    const verdicts = new Map<readonly Endpoint[], Pass<Code>>();
    // Endpoints are created at compile time; only failover over a weighted child creates new lists.
    const verdictFor = (candidates: readonly Endpoint[]): Pass<Code> => {
      let verdict = verdicts.get(candidates);
      if (verdict === undefined) {
        verdict = picked(config.backend_id, candidates);
        if (verdicts.size < VERDICT_LIMIT) verdicts.set(candidates, verdict);
      }
      return verdict;
    };
    return {
      onConnection: (_connection, _state, world) => verdictFor(linkedBackend.candidates(world)),
      onRequest: (_request, _connection, _state, world) => verdictFor(linkedBackend.candidates(world)),
    };
  },
};

const VERDICT_LIMIT = 1_024;

function picked(id: string, candidates: readonly Endpoint[]): Pass<Code> {
  const code = candidates.length > 0 ? 'backend.picked' : noEndpoint(candidates);
  const endpoints = candidates.map((endpoint) => tunnelOf(endpoint) ?? endpoint.id).join(', ');
  return {
    verdict: 'pass',
    reason: { code, detail: { backend: id, leaves: endpoints } },
    edits: [{ edit: 'backend', candidates }],
  };
}
