import type { Pass } from '../../engine/contract.ts';
import type { Module } from '../../engine/module.ts';
import { headersEdit } from '../../engine/edits.ts';
import type { ResponseHeadersConfig } from './module_schema.ts';
import { reasons } from './facts.ts';

type Code = keyof typeof reasons;

/** Removes, then adds headers of the response to the client. */
export const responseHeaders: Module<ResponseHeadersConfig, Code> = {
  type: 'response_headers',
  reasons,
  compile: (config) => {
    const verdict: Pass<Code> = {
      verdict: 'pass',
      reason: {
        code: 'response_headers.edited',
        detail: { removed: config.remove.length, added: Object.keys(config.add).length },
      },
      edits: [headersEdit('response', config.remove, Object.entries(config.add).flat())],
    };
    return { onResponse: () => verdict };
  },
};
