import type { Diagnostic, Severity, Span } from '../../diagnostics/diagnostic.ts';
import type { ServiceNaming } from '../../engine/naming.ts';
import type { PolicyWarning } from '../codes/warnings.ts';
import { mapIn } from './policy_text.ts';
import type { PolicyText } from './policy_text.ts';
import type { Edit } from './text_map.ts';

/** What else there is to say of a finding. */
export interface More {
  readonly hint?: string | undefined;
  readonly notes?: readonly string[];
  /** Marks the key of the pointer instead of its value. */
  readonly at?: 'key' | 'value';
  /** Marks this stretch of the policy's text instead. */
  readonly span?: Span | undefined;
  /** Marks this stretch of the text that is the value at the pointer. */
  readonly within?: { readonly span: Span; readonly decoded: string } | undefined;
  readonly fix?: Repair | undefined;
}

/** A repair as a change of the policy's text; null where the text does not allow it. */
export interface Repair {
  readonly says: string;
  readonly safe: boolean;
  readonly edit: Edit | null;
}

/** A number of the service (an error) or a warning of ours. */
export type Code = number | PolicyWarning;

/** Collects findings about a policy: one call for each. Pointers are those inside the policy. */
export type Report = (code: Code, pointer: string, says: string, more?: More) => void;

export interface Findings {
  readonly report: Report;
  /** A finding with a code of its own, such as one of an expression; its span is already one of the policy's text. */
  readonly add: (code: string, severity: Severity, pointer: string, says: string, more: More) => void;
  readonly list: readonly Diagnostic[];
}

/** An empty list of findings about a policy. What is found twice through a YAML alias is told once. */
export function findingsOf(policy: PolicyText, naming: Pick<ServiceNaming, 'errorCode'>): Findings {
  const list: Diagnostic[] = [];
  const told = new Set<string>();
  const add: Findings['add'] = (code, severity, pointer, says, more) => {
    const span = policy.file && placed(policy, pointer, more);
    const key = `${code} ${span === undefined ? pointer : `${span.start} ${span.end}`} ${says}`;
    if (told.has(key)) return;
    told.add(key);
    const { hint, notes, fix } = more;
    const edit = policy.file && fix?.edit ? policy.toFile.edit(fix.edit.span, fix.edit.text) : null;
    list.push({
      code,
      severity,
      says,
      pointer: policy.at + pointer,
      ...(policy.file && { source: policy.file }),
      ...(span && { span }),
      ...(hint !== undefined && { hint }),
      ...(notes && notes.length > 0 && { notes }),
      ...(fix && edit && { fix: { says: fix.says, span: edit.span, text: edit.text, safe: fix.safe } }),
    });
  };
  const report: Report = (code, pointer, says, more = {}) => {
    if (typeof code === 'number') add(naming.errorCode(code), 'error', pointer, says, more);
    else add(code, 'warning', pointer, says, more);
  };
  return { report, add, list };
}

/** The stretch of the file to mark: what was asked for, or else the nearest place around it. */
function placed(policy: PolicyText, pointer: string, { at, span, within }: More): Span {
  let inner = span;
  if (inner === undefined && within !== undefined) {
    inner = mapIn(policy, pointer, within.decoded)?.spanOf(within.span);
  }
  return policy.toFile.spanOf(inner ?? nearest(policy, pointer, at ?? 'value'));
}

function nearest(policy: PolicyText, pointer: string, at: 'key' | 'value'): Span {
  let place = pointer;
  let [span, other] = [policy.spanOf(place), policy.keySpanOf(place)];
  if (at === 'key') [span, other] = [other, span];
  while (isEmpty(span) && isEmpty(other) && place !== '') {
    place = place.slice(0, place.lastIndexOf('/'));
    [span, other] = [policy.keySpanOf(place), policy.spanOf(place)];
  }
  return (isEmpty(span) ? other : span) ?? span ?? { start: 0, end: 0 };
}

function isEmpty(span: Span | undefined): boolean {
  return span === undefined || span.start === span.end;
}
