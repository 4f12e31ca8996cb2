import { stringMap } from '../../cel/values.ts';
import { firstValue } from '../../http/fields.ts';
import { parseAuthority } from '../../http/host.ts';
import { type ActionKind, stepsOf } from '../action.ts';
import { FAILURES, Failure } from '../failure.ts';
import { compileHeaders } from '../header_templates.ts';
import { addHeaders as addTo, keepResult, sideOf } from '../policy_run.ts';
import { messages } from './facts.ts';

/** Appends header fields to the message of the phase; `Host` is replaced. */
export const addHeaders: ActionKind<'add-headers'> = {
  type: 'add-headers',
  compile: ({ type, config }, compiling) => {
    const headers = compileHeaders(compiling, config.headers);
    const step = stepsOf(type, messages, compiling.pointer);
    const next = { verdict: 'pass', step: step('added', { headers: headers.names.join(', ') }) } as const;
    return {
      run: (policyRun) => {
        const fields = headers.fields(policyRun.activation);
        if (fields instanceof Failure) return fields;
        const host = sideOf(policyRun) === 'request' ? firstValue(fields, 'host') : undefined;
        if (host !== undefined && parseAuthority(host) === null) {
          return compiling.failure(FAILURES.interpolation, `'${host}' is not a host name`);
        }
        addTo(policyRun, fields);
        const added = stringMap();
        for (let at = 0; at < fields.length; at += 2) added[fields[at]!] = fields[at + 1]!;
        keepResult(policyRun, 'add_headers', { headers_added: added });
        return next;
      },
    };
  },
};
