import { EDGE_KINDS, type EdgeObject } from '../resources/edge_document.ts';
import type { View } from '../store/port.ts';

/** An object that a write created, updated or removed. */
export interface Touched {
  readonly object: EdgeObject;
  readonly isGone: boolean;
}

/**
 * The objects of the edge, cached in memory: a write does not read them again, and unchanged ones keep their
 * identity, by which compiled parts are cached.
 */
export interface EdgeObjects {
  /** All objects including the changes of a write, oldest first. */
  readonly with: (view: View, touched: readonly Touched[]) => Promise<readonly EdgeObject[]>;
  /** Must be called if the write was not committed; the next one reads the store again. */
  readonly forget: () => void;
}

export function edgeObjects(): EdgeObjects {
  let kept: Map<string, Map<string, EdgeObject>> | null = null;
  return {
    with: async (view, touched) => {
      if (kept === null) {
        // The view already contains the changes of the write.
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
