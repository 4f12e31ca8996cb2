import { EDGE_KINDS, type EdgeObject } from '../resources/edge_document.ts';
import type { View } from '../store/port.ts';

/** An object that a write has made, changed or removed. */
export interface Touched {
  readonly object: EdgeObject;
  readonly isGone: boolean;
}

/**
 * The objects that the edge is made of, kept in memory: a write reads none of them again, and what it leaves alone
 * stays the same object, by which compiled parts are known again.
 */
export interface EdgeObjects {
  /** All objects as they are with a write's changes, oldest first. */
  readonly with: (view: View, touched: readonly Touched[]) => Promise<readonly EdgeObject[]>;
  /** To be called when that write was not kept: the next one reads the store again. */
  readonly forget: () => void;
}

export function edgeObjects(): EdgeObjects {
  let kept: Map<string, Map<string, EdgeObject>> | null = null;
  return {
    with: async (view, touched) => {
      if (kept === null) {
        // What the write has changed is in the view already.
        kept = new Map(EDGE_KINDS.map((kind) => [kind, new Map<string, EdgeObject>()]));
        for (const object of await view.all(EDGE_KINDS)) kept.get(object.kind)!.set(object.id, object);
      } else {
        for (const { object, isGone } of touched) {
          const ofKind = kept.get(object.kind);
          if (isGone) ofKind?.delete(object.id);
          else ofKind?.set(object.id, object);
        }
      }
      return Array.from(kept.values(), (ofKind) => [...ofKind.values()]).flat();
    },
    forget: () => {
      kept = null;
    },
  };
}
