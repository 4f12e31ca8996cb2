import type { ActionFacts } from '../filters/facts.ts';
import { ACTION_FACTS } from '../filters/table.ts';
import { isFraming, isHopByHop } from '../http/forwarding.ts';
import type { Action } from '../policy/document/document.ts';
import type { Analysis } from './model.ts';
import type { Way } from './outcome.ts';
import type { RunPhase } from './rule_conditions.ts';
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

/** The parts of the exchange that an action changes for later expressions; `*` is all of it. */
export function partsChangedBy({ type, config }: Action, phase: RunPhase): readonly string[] {
  const { leavesRequest, changes } = ACTION_FACTS.get(type)!;
  if (leavesRequest) return ['left_behind'];
  if (changes === undefined) return ['*', 'left_behind'];
  const isResponse = phase === 'on_http_response';
  return [...(isResponse ? ['response'] : changes(config as never)), 'left_behind'];
}
