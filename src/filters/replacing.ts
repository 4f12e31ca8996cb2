import { messages, numbers } from './find_replace/facts.ts';
import { pointerTo } from '../diagnostics/diagnostic.ts';
import type { Activation } from '../policy/env/activation.ts';
import { type FieldList, listMembers } from '../http/fields.ts';
import { type Replacement, TOO_LONG, replaceInBody } from './find_replace/algorithm.ts';
import { type ActionKind, type ActionOutcome, type Compiling, stepsOf } from './action.ts';
import { ask } from '../engine/contract.ts';
import { Failure } from './failure.ts';
import { compilePatternTemplate } from './pattern_templates.ts';
import { type PolicyRun, changeBody, keepResult } from './policy_run.ts';

/** Maximum size of a searched body, and of the result of replacing: a million matches take a second. */
export const REPLACING_LIMIT_BYTES = 2 ** 20;

/** Access to the request or response body. */
interface Part {
  readonly ask: 'body' | 'response_body';
  readonly result: string;
  readonly headers: (policyRun: PolicyRun) => FieldList;
  /** The body after earlier actions; null if it has not been read. */
  readonly known: (policyRun: PolicyRun) => Uint8Array | null;
}

export const REQUEST_BODY: Part = {
  ask: 'body',
  result: 'request_body_find_replace',
  headers: ({ activation }) => activation.request.headers,
  known: ({ requestBody }) => requestBody,
};

export const RESPONSE_BODY: Part = {
  ask: 'response_body',
  result: 'response_body_find_replace',
  headers: ({ activation }) => activation.response.headers,
  known: ({ responseBody }) => responseBody,
};

/** Creates an action that replaces text in a body. */
export function replacingIn<T extends 'request-body-find-replace' | 'response-body-find-replace'>(
  type: T,
  part: Part,
): ActionKind<T> {
  return {
    type,
    compile: ({ config, pointer }, compiling) => {
      const replacementsOf = compileReplacements(compiling, config.replacements);
      const step = stepsOf(type, messages, pointer);
      const replace = (
        policyRun: PolicyRun,
        body: Uint8Array,
        replacements: readonly Replacement[],
      ): ActionOutcome => {
        const replaced = replaceInBody(body, replacements, REPLACING_LIMIT_BYTES);
        if (typeof replaced === 'string') {
          const why =
            replaced === TOO_LONG
              ? `the body would exceed ${REPLACING_LIMIT_BYTES} bytes`
              : 'a pattern scans the body again and again';
          return compiling.failure(numbers.unchanged.number, why);
        }
        const { bytes, count, found } = replaced;
        keepResult(policyRun, part.result, {
          replacements: found.map(({ index, matched }) => ({
            replacement_index: index,
            matched_content: matched,
          })),
        });
        if (count === 0) return { verdict: 'pass', step: step('unchanged') };
        changeBody(policyRun, bytes);
        return { verdict: 'pass', step: step('replaced', { count }) };
      };
      return {
        run: (policyRun) => {
          const replacements = replacementsOf(policyRun.activation);
          if (replacements instanceof Failure) return replacements;
          const encoded = encodingFailure(compiling, policyRun, part.headers(policyRun));
          if (encoded !== null) return encoded;
          const known = part.known(policyRun);
          if (known !== null) return replace(policyRun, known, replacements);
          return ask({ ask: part.ask, limitBytes: REPLACING_LIMIT_BYTES }, (answer) => {
            if ('bytes' in answer) return replace(policyRun, answer.bytes, replacements);
            return compiling.failure(numbers.unread.number, `the body could not be read: ${answer.failure}`);
          });
        },
      };
    },
  };
}

/** Failures in replacements have their own error numbers. */
const IN_REPLACEMENTS = { template: numbers.template.number, pattern: numbers.pattern.number };

/** Compiles the replacements of an action. */
export function compileReplacements(
  compiling: Compiling,
  written: readonly { readonly from: string; readonly to: string }[],
): (activation: Activation) => readonly Replacement[] | Failure {
  const compiled = written.map(({ from, to }, index) => {
    const at = pointerTo('/replacements', index);
    return {
      from: compilePatternTemplate(compiling, from, `${at}/from`, IN_REPLACEMENTS),
      to: compiling.template(to, `${at}/to`),
    };
  });
  return (activation) => {
    const replacements: Replacement[] = [];
    for (const each of compiled) {
      const from = each.from(activation);
      if (from instanceof Failure) return from;
      const to = each.to.text(activation);
      if (to instanceof Failure) return new Failure(IN_REPLACEMENTS.template, to.message, to.pointer);
      replacements.push({ from, to });
    }
    return replacements;
  };
}

/** The failure for an encoded body: it cannot be searched, and a policy that redacts text must not let it pass. */
export function encodingFailure(
  compiling: Compiling,
  policyRun: PolicyRun,
  headers: FieldList,
): Failure | null {
  // Compression by this policy happens when the body is sent: at this point it is still plain.
  const own = policyRun.edits?.find((edit) => edit.edit === 'compress')?.algorithm;
  const codings = listMembers(headers, 'content-encoding').filter(
    (coding) => coding !== 'identity' && coding !== own,
  );
  if (codings.length === 0) return null;
  return compiling.failure(numbers.notBuffered.number, `the body is encoded (${codings.join(', ')})`);
}
