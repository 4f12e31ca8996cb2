import { isFieldName, isFieldValue } from '../../http/fields.ts';
import { isFraming, isHopByHop } from '../../http/forwarding.ts';

/** Configured header edits of one side; names in any letter case. Removals precede additions. */
export interface HeaderEditLists {
  readonly remove: readonly string[];
  readonly add: readonly (readonly [name: string, value: string])[];
}

type HeaderEditReason =
  | 'invalid_name'
  | 'invalid_value'
  | 'framing'
  | 'hop_by_hop'
  | 'user_agent'
  | 'host_removed'
  | 'duplicate';

/** A problem of one entry: the name as configured and its list. */
export interface HeaderEditProblem {
  readonly where: 'add' | 'remove';
  readonly name: string;
  readonly reason: HeaderEditReason;
  /** One sentence. */
  readonly message: string;
}

/** All problems of header edits for one side. */
export function headerEditProblems(
  lists: HeaderEditLists,
  side: 'request' | 'response',
): HeaderEditProblem[] {
  const problems: HeaderEditProblem[] = [];
  const added = new Set<string>();
  for (const [name, value] of lists.add) {
    const lower = name.toLowerCase();
    const reason = nameProblem(name) ?? valueProblem(lower, value, side);
    if (reason !== null) problems.push(problem('add', name, reason));
    else if (added.has(lower)) problems.push(problem('add', name, 'duplicate'));
    added.add(lower);
  }
  for (const name of lists.remove) {
    const reason = nameProblem(name);
    if (reason !== null) problems.push(problem('remove', name, reason));
    else if (side === 'request' && name.toLowerCase() === 'host' && !added.has('host')) {
      problems.push(problem('remove', name, 'host_removed'));
    }
  }
  return problems;
}

function nameProblem(name: string): HeaderEditReason | null {
  if (!isFieldName(name)) return 'invalid_name';
  const lower = name.toLowerCase();
  if (isFraming(lower)) return 'framing';
  if (isHopByHop(lower)) return 'hop_by_hop';
  return lower === 'user-agent' ? 'user_agent' : null;
}

// RFC 3986 §3.2 without userinfo: the syntax of `Host` (RFC 9110 §7.2).
const AUTHORITY = /^(?:\[[\da-f:.]+\]|[\w\-.~!$&'()*+,;=%]+)(?::\d{1,5})?$/i;

function valueProblem(lower: string, value: string, side: 'request' | 'response'): HeaderEditReason | null {
  if (!isFieldValue(value)) return 'invalid_value';
  return side === 'request' && lower === 'host' && !AUTHORITY.test(value) ? 'invalid_value' : null;
}

const MESSAGES: Readonly<Record<HeaderEditReason, (name: string) => string>> = {
  invalid_name: (name) => `${JSON.stringify(name)} is not a header name`,
  invalid_value: (name) => `the value of '${name}' contains characters that are not allowed in header values`,
  framing: (name) => `'${name}' controls message framing, which only the edge sets`,
  hop_by_hop: (name) => `'${name}' is a hop-by-hop field and is never forwarded`,
  user_agent: (name) => `'${name}' cannot be changed`,
  host_removed: (name) => `'${name}' can be replaced but not removed; add it with a new value, too`,
  duplicate: (name) => `'${name}' is added twice; names are case-insensitive`,
};

function problem(where: 'add' | 'remove', name: string, reason: HeaderEditReason): HeaderEditProblem {
  return { where, name, reason, message: MESSAGES[reason](name) };
}
