import type { Stop } from '../engine/contract.ts';
import type { Module } from '../engine/module.ts';

/**
 * A module whose config is understood and checked but whose mechanism is not part of this version. It fails
 * closed: a request that reaches it stops with 501, because letting it through would open what it guards.
 */
export function notRun(type: string): Module<unknown> {
  const code = `${type}.not_run`;
  return {
    type,
    reasons: {
      [code]: { says: 'this version does not run this module, so the request is stopped', decision: 'block' },
    },
    compile: (_config, linked) => {
      const verdict: Stop = {
        verdict: 'stop',
        because: { code, detail: {} },
        response: linked.refusal(501, null, `This version does not run the module ${type}`),
      };
      return { onRequest: () => verdict };
    },
  };
}
