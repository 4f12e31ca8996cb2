import type { Pass } from '../../engine/contract.ts';
import type { Module } from '../../engine/module.ts';
import { headersEdit } from '../../engine/edits.ts';
import type { RequestHeadersConfig } from './module_schema.ts';
import { reasons } from './facts.ts';

type Code = keyof typeof reasons;

/** Removes, then adds request headers, immediately before the upstream. */
export const requestHeaders: Module<RequestHeadersConfig, Code> = {
  type: 'request_headers',
  reasons,
  compile: (config) => {
    const verdict: Pass<Code> = {
      verdict: 'pass',
      reason: {
        code: 'request_headers.edited',
        detail: { removed: config.remove.length, added: Object.keys(config.add).length },
      },
      edits: [headersEdit('request', config.remove, Object.entries(config.add).flat())],
    };
    return { onRequest: () => verdict };
  },
};
