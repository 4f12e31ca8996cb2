import type { Leaf, Pass } from '../../engine/contract.ts';
import type { Module } from '../../engine/module.ts';
import type { BackendModuleConfig } from './schema.ts';

const reasons = {
  'backend.picked': { says: 'this backend takes it', decision: 'allow' },
  'backend.no_weight': { says: 'every child of the weighted backend has weight zero', decision: 'block' },
} as const;

type Code = keyof typeof reasons;

/** Chooses where the request goes: the end of the request phase. */
export const backend: Module<BackendModuleConfig, Code> = {
  type: 'backend',
  reasons,
  compile: (config, linked) => {
    const linkedBackend = linked.backend(config.backend_id);
    const verdicts = new Map<readonly Leaf[], Pass<Code>>();
    // Leaves are made when the configuration is compiled; only failover over a weighted child makes new lists.
    const verdictFor = (candidates: readonly Leaf[]): Pass<Code> => {
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

function picked(id: string, candidates: readonly Leaf[]): Pass<Code> {
  const code = candidates.length === 0 ? 'backend.no_weight' : 'backend.picked';
  const leaves = candidates.map((leaf) => leaf.id).join(', ');
  return {
    verdict: 'pass',
    because: { code, detail: { backend: id, leaves } },
    edits: [{ edit: 'backend', candidates }],
  };
}
