import type { Filter } from '../facts.ts';
import type { BackendModuleConfig } from './module_schema.ts';

export const reasons = {
  'backend.picked': { message: 'the backend of the request is chosen', decision: 'allow' },
  'backend.offline': { message: 'no agent with a tunnel for the backend is online', decision: 'block' },
  'backend.no_weight': { message: 'every child of the weighted backend has weight zero', decision: 'block' },
} as const;

export const backend = {
  module: {
    type: 'backend',
    place: 'route',
    edgeKinds: ['https', 'tls', 'tcp'],
    ends: 'never',
    choosesBackend: 'backend',
    reads: ['chance'],
    costNs: 30,
    references: [{ kind: 'backend', at: '/backend_id', shownAs: 'backend', missing: 6514, wrong: 242 }],
    reasons,
    examples: {
      good: [{ backend_id: 'app' }],
      bad: [{ config: { backend_id: 'no_such_backend' }, finding: 'edge.unknown_backend' }],
    },
  },
} satisfies Filter<BackendModuleConfig>;
