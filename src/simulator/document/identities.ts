import { pointerTo } from '../../diagnostics/diagnostic.ts';
import { suggest } from '../../diagnostics/suggest.ts';
import { type Report } from '../../document/report.ts';
import { didYouMean, listed, quoted } from '../../document/words.ts';
import { type Identity, readIdentities } from '../../development_idp/identities.ts';
import type { ScenarioCode } from './codes.ts';
import type { CaseConfig, ScenarioShell } from './schema.ts';

type Raw = Readonly<Record<string, unknown>>;

/** The identities of a file; null when it names none, and no provider can be reached then. */
export function identitiesOf({ identities }: ScenarioShell): readonly Identity[] | null {
  return identities === undefined ? null : readIdentities(identities).identities;
}

/** The identities of a file as a step changes them: members that are given win. */
export function changedIdentities({ identities = {} }: ScenarioShell, changes: Raw): readonly Identity[] {
  const merged: Record<string, unknown> = { ...identities };
  for (const [key, members] of Object.entries(changes))
    merged[key] = { ...identities[key], ...(members as Raw) };
  return readIdentities(merged).identities;
}

/** Checks what identities say of themselves. */
export function checkIdentityFacts(shell: ScenarioShell, report: Report<ScenarioCode>): void {
  if (shell.identities === undefined) return;
  for (const { key, member, says } of readIdentities(shell.identities).problems) {
    const pointer = pointerTo('/identities', key);
    report('scenario.bad_identity', member === '' ? pointer : pointerTo(pointer, member), says);
  }
}

function asks(given: unknown): boolean {
  return typeof given === 'object' && given !== null && 'as' in given;
}

/** Checks that whoever asks in a case is known, and notes that they have asked. */
export function checkAskers(
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
    const hint = didYouMean(suggest(name, known));
    const notes = [`identities of this file: ${listed(known)}`];
    report('scenario.unknown_identity', `${at}/as`, `no identity is called ${quoted(name)}`, { hint, notes });
  }
}
