import { quoted } from '../diagnostics/message_text.ts';
import type { More, Report } from '../diagnostics/report.ts';
import { isTamperProof } from '../net/private_hosts.ts';

/** Checks that several filters have in common. */

/** Two fields of an action that require each other. A field that is present may be invalid, which is undefined. */
export function needsBoth<Config extends object>(
  config: Config,
  report: Report<number>,
  one: keyof Config & string,
  other: keyof Config & string,
): void {
  for (const [given, needed] of [
    [one, other],
    [other, one],
  ] as const) {
    if (!Object.hasOwn(config, given) || Object.hasOwn(config, needed)) continue;
    report(2240, `/${given}`, `'${given}' also needs '${needed}'`, { at: 'key', hint: `add ${needed}` });
  }
}

/** Whether a list has entries, or may have: an invalid list is undefined. */
export function isFilled(list: readonly unknown[] | undefined): boolean {
  return list === undefined || list.length > 0;
}

/** The warning about a URL whose content is trusted, as the filters that read such URLs declare it. */
export const plainHttpWarning = {
  message: 'What is trusted to decide about access is read over plain http from another machine.',
  cure: ['`additional_jkus: [http://login.test/keys]`', 'Write https:, or serve it on this machine'],
} as const;

/**
 * What to say of a URL with plain http to another machine; null for any other one, and for a host with `${…}`.
 *
 * @param follows What comes of it, as the rest of the sentence.
 */
export function plainHttp(url: string, follows: string): readonly [message: string, more: More] | null {
  const read = URL.parse(url);
  if (read?.protocol !== 'http:' || read.hostname.includes('${') || isTamperProof(read)) return null;
  const text = url.trim().replace(/^http:/i, 'https:');
  const fix = { message: `write ${quoted(text)}`, text, safe: false } as const;
  return [`${quoted(url)} uses plain http: ${follows}`, { hint: fix.message, fix }];
}
