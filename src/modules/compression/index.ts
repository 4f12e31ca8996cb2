import type { Edit, Pass } from '../../engine/contract.ts';
import type { Module } from '../../engine/module.ts';
import { type CompressionPlan, compressionPlan } from '../../mechanisms/compression.ts';
import type { CompressionConfig } from './schema.ts';

const reasons = {
  'compression.compressed': { says: 'the client takes this encoding', decision: 'allow' },
  'compression.not_wanted': { says: 'the client takes neither gzip nor deflate', decision: 'allow' },
  'compression.no_body': { says: 'the response has no body', decision: 'allow' },
  'compression.partial': { says: 'the response is a part of the whole', decision: 'allow' },
  'compression.already_encoded': { says: 'the response is encoded already', decision: 'allow' },
  'compression.no_transform': { says: 'Cache-Control forbids any change', decision: 'allow' },
} as const;

type Code = keyof typeof reasons;

/** Compresses responses for clients that take gzip or deflate. */
export const compression: Module<CompressionConfig, Code> = {
  type: 'compression',
  reasons,
  compile: () => {
    // The plans of common responses are shared objects: their verdicts are made once, too.
    let lastPlan: CompressionPlan | null = null;
    let lastVerdict: Pass<Code> | null = null;
    return {
      onResponse: (response, request): Pass<Code> => {
        const plan = compressionPlan(request, response);
        if (plan === lastPlan) return lastVerdict!;
        lastPlan = plan;
        lastVerdict =
          plan.compress === null && plan.add.length === 0 ? UNTOUCHED[plan.because] : touched(plan);
        return lastVerdict;
      },
    };
  },
};

const CODES = Object.keys(reasons) as Code[];

// Most responses are left alone for one of few reasons: their verdicts are made once.
const UNTOUCHED = Object.fromEntries(
  CODES.map((code): [string, Pass<Code>] => [
    code.slice('compression.'.length),
    { verdict: 'pass', because: { code, detail: {} } },
  ]),
) as Readonly<Record<CompressionPlan['because'], Pass<Code>>>;

function touched(plan: CompressionPlan): Pass<Code> {
  const edits: Edit[] = [{ edit: 'headers', on: 'response', remove: plan.remove, add: plan.add.flat() }];
  if (plan.compress !== null) edits.push({ edit: 'compress', algorithm: plan.compress });
  const detail = plan.compress === null ? {} : { algorithm: plan.compress };
  return { verdict: 'pass', because: { code: `compression.${plan.because}`, detail }, edits };
}
