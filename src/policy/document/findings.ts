import type { Diagnostic, Severity, Span } from '../../diagnostics/diagnostic.ts';
import type { Branding } from '../../engine/branding.ts';
import type { PolicyWarning } from '../codes/warnings.ts';
import { type PolicyText, mapIn } from './policy_text.ts';
import type { Edit } from './text_map.ts';
import { nearestSpan } from '../../config_file/report.ts';

/** Optional details of a finding. */
export interface More {
  readonly hint?: string | undefined;
  readonly notes?: readonly string[];
  /** Marks the key of the pointer instead of its value. */
  readonly at?: 'key' | 'value';
  /** Marks this span of the policy's text instead. */
  readonly span?: Span | undefined;
  /** Marks this span of the string at the pointer. */
  readonly within?: { readonly span: Span; readonly decoded: string } | undefined;
  readonly fix?: Repair | undefined;
}

/** A fix as a change of the policy's text; null if the text does not allow it. */
export interface Repair {
  readonly message: string;
  readonly safe: boolean;
  readonly edit: Edit | null;
}

/** An error number of the service, or one of our warnings. */
export type Code = number | PolicyWarning;

/** Reports one finding about a policy per call. Pointers are those inside the policy. */
export type Report = (code: Code, pointer: string, message: string, more?: More) => void;

export interface Findings {
  readonly report: Report;
  /** A finding with a code of its own, such as one of an expression; its span is in the policy's text. */
  readonly add: (code: string, severity: Severity, pointer: string, message: string, more: More) => void;
  readonly list: readonly Diagnostic[];
}

/** An empty list of findings about a policy. A finding that is repeated through a YAML alias is reported once. */
export function findingsOf(policy: PolicyText, branding: Pick<Branding, 'errorCode'>): Findings {
  const list: Diagnostic[] = [];
  const reported = new Set<string>();
  const add: Findings['add'] = (code, severity, pointer, message, more) => {
    const span = policy.file && placed(policy, pointer, more);
    const key = `${code} ${span === undefined ? pointer : `${span.start} ${span.end}`} ${message}`;
    if (reported.has(key)) return;
    reported.add(key);
    const { hint, notes, fix } = more;
    const edit = policy.file && fix?.edit ? policy.toFile.edit(fix.edit.span, fix.edit.text) : null;
    list.push({
      code,
      severity,
      message,
      pointer: policy.at + pointer,
      ...(policy.file && { source: policy.file }),
      ...(span && { span }),
      ...(hint !== undefined && { hint }),
      ...(notes && notes.length > 0 && { notes }),
      ...(fix && edit && { fix: { message: fix.message, span: edit.span, text: edit.text, safe: fix.safe } }),
    });
  };
  const report: Report = (code, pointer, message, more = {}) => {
    if (typeof code === 'number') add(branding.errorCode(code), 'error', pointer, message, more);
    else add(code, 'warning', pointer, message, more);
  };
  return { report, add, list };
}

/** The span of the file to mark: the requested one, or the nearest place around it. */
function placed(policy: PolicyText, pointer: string, { at, span, within }: More): Span {
  let inner = span;
  if (inner === undefined && within !== undefined) {
    inner = mapIn(policy, pointer, within.decoded)?.spanOf(within.span);
  }
  return policy.toFile.spanOf(inner ?? nearestSpan(policy, pointer, at ?? 'value'));
}
