import { REVOCATIONS_LIMIT } from '../auth/registry.ts';
import { type LoginEnd, revocations } from '../auth/revocations.ts';
import type { FromHub, Link, ToHub } from './link.ts';
import { memoryState } from './memory.ts';

/** The process that has the state of several. */
export interface Hub {
  readonly attach: (link: Link<FromHub, ToHub>) => void;
}

/** A hub with an empty state; `nowMs` is the clock of all limits. */
export function stateHub(nowMs: () => number): Hub {
  const memory = memoryState();
  const ended = revocations(REVOCATIONS_LIMIT);
  const links = new Set<Link<FromHub, ToHub>>();
  return {
    attach: (link) => {
      link.onOver(() => void links.delete(link));
      link.hear((message) => {
        if ('asks' in message) {
          // An end that was sent before is with all others by now.
          const answers = message.asks.map(
            ([serial, request]) =>
              [serial, request.do === 'publish' ? DONE : memory.answer(request, nowMs())] as const,
          );
          link.send({ answers });
        } else if ('joins' in message) {
          links.add(link);
          link.send({ ends: ended.all(), ...bound(), isAll: true });
        } else spread(message.ended, link);
      });
    },
  };

  function bound(): { readonly allBeforeMs: number | null } {
    const allBeforeMs = ended.allBeforeMs();
    return { allBeforeMs: Number.isFinite(allBeforeMs) ? allBeforeMs : null };
  }

  function spread(end: LoginEnd, from: Link<FromHub, ToHub>): void {
    ended.restore([end], Number.NEGATIVE_INFINITY);
    for (const link of links) if (link !== from) link.send({ ends: [end], ...bound(), isAll: false });
  }
}

const DONE = { done: true } as const;
