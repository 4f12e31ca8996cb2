import type { ActionFacts } from '../filters/facts.ts';
import { isFraming, isHopByHop } from '../http/forwarding.ts';
import type { Analysis } from './model.ts';
import type { Way } from './outcome.ts';
import { changesOfField } from './setting.ts';

/** Notes which header fields are certainly there, or not there, on a way behind an action of the request phase. */
export function noteHeaders(
  { removes, adds, leavesRequest }: ActionFacts<never>,
  config: object,
  { changed }: Pick<Way, 'changed'>,
  { made }: Analysis,
): void {
  if (leavesRequest) return;
  const note = (name: string, presence: 'absent' | 'present'): void => {
    const lower = name.toLowerCase();
    // Policies leave these as they are, and read cookies in another way.
    if (lower === 'host' || lower === 'cookie' || isFraming(lower) || isHopByHop(lower)) return;
    made.set(changesOfField(`header ${lower}`, changed), presence);
  };
  for (const name of removes?.(config as never).request ?? []) note(name, 'absent');
  for (const name of Object.keys(adds?.(config as never).request ?? {})) note(name, 'present');
}
