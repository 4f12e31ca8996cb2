import type { Encoding } from '../../../engine/contract.ts';
import { type CompressionPlan, compressionPlan, negotiate } from '../../../mechanisms/compression.ts';
import { allValues, withoutField } from '../../../http/fields.ts';
import type { ActionKind } from '../../action.ts';
import { stepsOf } from '../../action.ts';
import { addHeaders, keepResult, note, removeHeaders } from '../../walk.ts';

/** Codings that a driver can apply. `compress` (LZW) is never chosen: no client of today knows it. */
const APPLICABLE: readonly string[] = ['gzip', 'deflate', 'br', 'zstd'] satisfies Encoding[];

/** Compresses the response as the client accepts it. */
export const compressResponse: ActionKind<'compress-response'> = {
  type: 'compress-response',
  says: {
    compressed: 'the response is compressed',
    not_wanted: 'the client accepts none of the codings, or prefers the plain form',
    no_body: 'the response has no body to compress',
    partial: 'the response is a part, which must keep its bytes',
    already_encoded: 'the response is encoded already',
    no_transform: 'the response or the request forbids changing the body',
  },
  compile: ({ type, config }, compiling) => {
    const offered = config.algorithms.filter((name) => APPLICABLE.includes(name)) as readonly Encoding[];
    const step = stepsOf(type, compressResponse.says, compiling.pointer);
    return {
      run: (walk) => {
        const { request, response } = walk.activation;
        const { plan, algorithm } = planFor(request, response, offered);
        keepResult(walk, 'compress', {
          already_compressed: plan.because === 'already_encoded',
          negotiated_algorithm: algorithm ?? '',
        });
        if (plan.remove.length > 0) removeHeaders(walk, plan.remove);
        if (plan.add.length > 0) addHeaders(walk, plan.add.flat());
        if (algorithm === null) return { does: 'next', step: step(plan.because) };
        note(walk, { edit: 'compress', algorithm });
        return { does: 'next', step: step('compressed', { algorithm }) };
      },
    };
  },
};

type Request = Parameters<typeof compressionPlan>[0];
type Response = Parameters<typeof compressionPlan>[1];

/**
 * The plan of the mechanism, for the codings that this action offers: the coding is chosen here, the mechanism is
 * asked as if the client wanted gzip or nothing, and its answer is given the name of the chosen one.
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
