import { NOT_RUN_MESSAGES } from '../facts.ts';
import type { Filter } from '../facts.ts';
import type { AiGatewayConfig } from './action_schema.ts';

export const aiGateway = {
  action: {
    type: 'ai-gateway',
    phases: ['on_http_request'],
    ends: { when: 'may', how: ['not_run'] },
    result: { name: 'ai_gateway' },
    leavesRequest: false,
    runs: 'never',
    reads: [],
    costNs: 80,
    reasons: NOT_RUN_MESSAGES,
    examples: {
      good: [{}],
      bad: [],
    },
  },
} satisfies Filter<never, AiGatewayConfig>;
