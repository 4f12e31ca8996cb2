import { meantWord } from '../../diagnostics/meant.ts';
import { pointerTo } from '../../diagnostics/diagnostic.ts';
import { suggest } from '../../diagnostics/suggest.ts';
import type { Report } from '../../diagnostics/report.ts';
import { listed, quoted } from '../../diagnostics/message_text.ts';
import { type Identity, readIdentities } from '../../dev_idp/identities.ts';
import type { ScenarioCode } from './codes.ts';
import type { CaseConfig, ScenarioShell } from './schema.ts';

type Raw = Readonly<Record<string, unknown>>;

/** The identities of a file; null if it has none, in which case no provider can be reached. */
export function identitiesOf({ identities }: ScenarioShell): readonly Identity[] | null {
  return identities === undefined ? null : readIdentities(identities).identities;
}

/** The identities of a file after a step's changes: given members take precedence. */
export function changedIdentities({ identities = {} }: ScenarioShell, changes: Raw): readonly Identity[] {
  const merged: Record<string, unknown> = { ...identities };
  for (const [key, members] of Object.entries(changes))
    merged[key] = { ...identities[key], ...(members as Raw) };
  return readIdentities(merged).identities;
}

/** Checks the members of identities. */
export function checkIdentityFacts(shell: ScenarioShell, report: Report<ScenarioCode>): void {
  if (shell.identities === undefined) return;
  for (const { key, member, message } of readIdentities(shell.identities).problems) {
    const pointer = pointerTo('/identities', key);
    report('scenario.bad_identity', member === '' ? pointer : pointerTo(pointer, member), message);
  }
}

function asks(given: unknown): boolean {
  return typeof given === 'object' && given !== null && 'as' in given;
}

/** Checks that the identity of each request exists, and records its use. */
export function checkIdentitiesUsed(
  { identities = {}, defaults }: ScenarioShell,
  { request, timeline, sample }: Pick<CaseConfig, 'request' | 'timeline' | 'sample'>,
  pointer: string,
  asked: Set<string>,
  report: Report<ScenarioCode>,
): void {
  if (timeline === undefined && !asks(defaults?.request) && !asks(request) && !asks(sample?.request)) return;
  const requests: readonly (readonly [string, unknown])[] = [
    ['/defaults/request', defaults?.request],
    [`${pointer}/request`, request],
    [`${pointer}/sample/request`, sample?.request],
    ...(timeline ?? []).map((step, index) => [`${pointer}/timeline/${index}/send`, step.send] as const),
  ];
  let known: readonly string[] | null = null;
  for (const [at, given] of requests) {
    if (typeof given !== 'object' || given === null || !('as' in given)) continue;
    const name = String(given.as);
    if (asked.has(name)) continue;
    asked.add(name);
    known ??= Object.keys(identities);
    if (known.includes(name)) continue;
    const { hint = 'add it to `identities` at the top of the file', fix } = meantWord(suggest(name, known));
    const notes = [`identities of this file: ${listed(known)}`];
    report('scenario.unknown_identity', `${at}/as`, `unknown identity ${quoted(name)}`, { hint, notes, fix });
  }
}
