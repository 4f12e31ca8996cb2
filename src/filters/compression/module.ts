import type { Edit, Pass } from '../../engine/contract.ts';
import type { Module } from '../../engine/module.ts';
import { type CompressionPlan, compressionPlan } from './algorithm.ts';
import type { CompressionConfig } from './module_schema.ts';
import { reasons } from './facts.ts';

type Code = keyof typeof reasons;

/** Compresses responses for clients that accept gzip or deflate. */
export const compression: Module<CompressionConfig, Code> = {
  type: 'compression',
  reasons,
  compile: () => {
    // Plans of common responses are shared objects; their verdicts are cached.
    let lastPlan: CompressionPlan | null = null;
    let lastVerdict: Pass<Code> | null = null;
    return {
      onResponse: (response, request): Pass<Code> => {
        const plan = compressionPlan(request, response);
        if (plan === lastPlan) return lastVerdict!;
        lastPlan = plan;
        lastVerdict =
          plan.compress === null && plan.add.length === 0 ? UNTOUCHED[plan.reason] : touched(plan);
        return lastVerdict;
      },
    };
  },
};

const CODES = Object.keys(reasons) as Code[];

// Most responses are unchanged for one of few reasons; their verdicts are created once.
const UNTOUCHED = Object.fromEntries(
  CODES.map((code): [string, Pass<Code>] => [
    code.slice('compression.'.length),
    { verdict: 'pass', reason: { code, detail: {} } },
  ]),
) as Readonly<Record<CompressionPlan['reason'], Pass<Code>>>;

function touched(plan: CompressionPlan): Pass<Code> {
  const edits: Edit[] = [{ edit: 'headers', on: 'response', remove: plan.remove, add: plan.add.flat() }];
  if (plan.compress !== null) edits.push({ edit: 'compress', algorithm: plan.compress });
  const detail = plan.compress === null ? {} : { algorithm: plan.compress };
  return { verdict: 'pass', reason: { code: `compression.${plan.reason}`, detail }, edits };
}
