import type { Encoding } from '../../engine/questions.ts';
import { type CompressionPlan, compressionPlan, negotiate } from './algorithm.ts';
import { allValues, withoutField } from '../../http/fields.ts';
import { type ActionKind, stepsOf } from '../action.ts';
import { addHeaders, keepResult, note, removeHeaders } from '../policy_run.ts';
import { messages } from './facts.ts';

/** Codings that a driver can apply. `compress` (LZW) is never chosen: current clients do not support it. */
const APPLICABLE: readonly string[] = ['gzip', 'deflate', 'br', 'zstd'] satisfies Encoding[];

/** Compresses the response if the client accepts it. */
export const compressResponse: ActionKind<'compress-response'> = {
  type: 'compress-response',
  compile: ({ type, config }, compiling) => {
    const offered = config.algorithms.filter((name) => APPLICABLE.includes(name)) as readonly Encoding[];
    const step = stepsOf(type, messages, compiling.pointer);
    return {
      run: (policyRun) => {
        const { request, response } = policyRun.activation;
        const { plan, algorithm } = planFor(request, response, offered);
        keepResult(policyRun, 'compress', {
          already_compressed: plan.reason === 'already_encoded',
          negotiated_algorithm: algorithm ?? '',
        });
        if (plan.remove.length > 0) removeHeaders(policyRun, plan.remove);
        if (plan.add.length > 0) addHeaders(policyRun, plan.add.flat());
        if (algorithm === null) return { verdict: 'pass', step: step(plan.reason) };
        note(policyRun, { edit: 'compress', algorithm });
        return { verdict: 'pass', step: step('compressed', { algorithm }) };
      },
    };
  },
};

type Request = Parameters<typeof compressionPlan>[0];
type Response = Parameters<typeof compressionPlan>[1];

/**
 * The compression plan for the codings of this action. The coding is chosen here; the shared algorithm is
 * then asked as if the client accepted gzip or nothing, and its plan gets the name of the chosen coding.
 */
function planFor(
  request: Request,
  response: Response,
  offered: readonly Encoding[],
): { readonly plan: CompressionPlan; readonly algorithm: Encoding | null } {
  const accepted = allValues(request.headers, 'accept-encoding');
  const wanted = accepted.length === 0 ? undefined : accepted.join(', ');
  const chosen = negotiate(wanted, offered);
  const headers = [
    ...withoutField(request.headers, 'accept-encoding'),
    'accept-encoding',
    chosen === null ? 'identity' : 'gzip',
  ];
  const plan = compressionPlan({ method: request.method, headers }, response);
  if (plan.compress === null || chosen === null) return { plan, algorithm: null };
  const add = plan.add.map(([name, value]) =>
    name === 'content-encoding' ? ([name, chosen] as const) : ([name, value] as const),
  );
  return { plan: { ...plan, add }, algorithm: chosen };
}
