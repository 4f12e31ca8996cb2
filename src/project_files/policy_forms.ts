import { type LocatedDocument, UNREADABLE, type Written } from '../config_file/document.ts';
import type { Report } from '../edge/document/report.ts';
import { listed, quoted } from '../diagnostics/message_text.ts';
import { POLICY_KEYS, type Plain, isPlain, policyText } from '../edge/document/written_policies.ts';
import type { NamedFiles } from './named_files.ts';

/** What reads a policy needs of the file that has it. */
export interface PolicyPlace {
  readonly document: LocatedDocument;
  readonly pointer: string;
  /** Name of the file. */
  readonly name: string;
  readonly files: NamedFiles;
  readonly report: Report;
  /** Collects the names of files that were read. */
  readonly read: Set<string>;
}

/**
 * A policy as its module has it: with its text in `value`, and where that is written. It may be in a file of its own, or
 * a map. Other values are returned as they are.
 */
export function policyOf(
  given: unknown,
  place: PolicyPlace,
): { readonly value: unknown; readonly written: Written | null } {
  if (!isPlain(given)) return { value: given, written: null };
  const phases = POLICY_KEYS.filter((key) => Object.hasOwn(given, key));
  const forms = [
    ...(Object.hasOwn(given, 'value') ? ['value'] : []),
    ...(Object.hasOwn(given, 'file') ? ['file'] : []),
    ...phases.slice(0, 1),
  ];
  const { report, pointer } = place;
  const rest = Object.fromEntries(
    Object.entries(given).filter(([key]) => key !== 'file' && !phases.includes(key)),
  );
  if (forms.length > 1) {
    const message = `the policy is written more than once: ${listed(forms.map(quoted))}`;
    report('edge.policy_form', `${pointer}/${forms[1]!}`, message, { at: 'key' });
    return { value: { ...rest, value: UNREADABLE }, written: null };
  }
  if (isPlain(given['value'])) {
    report('edge.policy_form', `${pointer}/value`, '`value` is the policy as text, not as a map', {
      at: 'key',
      notes: ['leave `value` out: the phases of a policy can be written right below `traffic_policy`'],
    });
    return { value: { ...rest, value: UNREADABLE }, written: null };
  }
  if (forms[0] === 'file') return fromFile(given['file'], rest, place);
  if (phases.length === 0) return { value: given, written: null };
  const map = Object.fromEntries(phases.map((phase) => [phase, given[phase]]));
  const value = { ...rest, value: isWhole(map) ? policyText(map) : UNREADABLE };
  return { value, written: { document: place.document, pointer } };
}

function fromFile(
  file: unknown,
  rest: Plain,
  { pointer, name, files, report, read }: PolicyPlace,
): ReturnType<typeof policyOf> {
  const at = `${pointer}/file`;
  const unread = { value: { ...rest, value: UNREADABLE }, written: null };
  if (typeof file !== 'string' || file === '') {
    if (file !== UNREADABLE) report('edge.wrong_type', at, '`file` has to be the path of a policy file');
    return unread;
  }
  const path = files.nameOf(name, file);
  read.add(path);
  const source = files.read(path);
  if ('problem' in source) {
    report('edge.unreadable_file', at, source.problem, { hint: source.hint });
    return unread;
  }
  if (source.text.trim() === '') {
    report('edge.unreadable_file', at, `${path} is empty: a policy has a phase such as \`on_http_request\``);
    return unread;
  }
  const whole = { start: 0, end: source.text.length };
  const spanOf = (): typeof whole => whole;
  const document = { source, value: source.text, spanOf, keySpanOf: () => undefined };
  return { value: { ...rest, value: source.text }, written: { document, pointer: '' } };
}

/** Whether every part of a value could be read. */
function isWhole(value: unknown): boolean {
  if (value === UNREADABLE) return false;
  return typeof value !== 'object' || value === null || Object.values(value).every(isWhole);
}
