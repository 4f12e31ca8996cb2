import { weakMemoize } from '../../caches/weak_memoize.ts';
import type { Body, ResourceObject } from '../resources/contract.ts';
import { withSecrets } from '../resources/secrets.ts';
import { RESOURCES, resourceOfKind } from '../resources/table.ts';
import { type Store, StoreError, type StoredObject, type Transaction, type View } from './port.ts';

/** Encrypts a text for a place: it cannot be decrypted at another place. */
export interface Sealing {
  readonly seal: (text: string, place: string) => string;
  /** Null if the text was changed, moved, or sealed with another key. */
  readonly unseal: (sealed: string, place: string) => string | null;
}

/** Stored instead of a secret. */
interface Sealed {
  readonly sealed: string;
}

const KINDS_WITH_SECRETS = new Set(
  RESOURCES.filter(({ fields }) => Object.values(fields).some(({ secrets }) => secrets !== undefined)).map(
    ({ kind }) => kind,
  ),
);

/**
 * A store that encrypts the secrets of its objects, so that its file contains none in clear text. The resource
 * table defines which fields are secrets. Reading an object that was sealed with another key throws StoreError.
 */
export function sealedStore(store: Store, sealing: Sealing): Store {
  const closed = (object: StoredObject): StoredObject =>
    changed(object, (value, place) =>
      typeof value === 'string' ? { sealed: sealing.seal(value, object.id + place) } : value,
    );
  const open = (object: ResourceObject): ResourceObject =>
    changed(object, (value, place) => {
      if (!isSealed(value)) return value;
      const text = sealing.unseal(value.sealed, object.id + place);
      if (text !== null) return text;
      throw new StoreError(`${place} of ${object.id} was sealed with another key, or changed`);
    });
  // An object that the store remembers is opened once: objects that were read never change.
  const openRemembered = weakMemoize(open);
  const view = (inner: View): View => ({
    ...inner,
    get: async (id) => {
      const object = await inner.get(id);
      return object === null || !KINDS_WITH_SECRETS.has(object.kind) ? object : openRemembered(object);
    },
    list: async (kind, page) => {
      const objects = await inner.list(kind, page);
      return KINDS_WITH_SECRETS.has(kind) ? objects.map(openRemembered) : objects;
    },
    all: async (kinds) => (await inner.all(kinds)).map(open),
  });
  return {
    read: (work) => store.read((inner) => work(view(inner))),
    readLong: (work) => store.readLong((inner) => work(view(inner))),
    write: (work) =>
      store.write((inner) => {
        const transaction: Transaction = {
          ...inner,
          ...view(inner),
          insert: (object) => inner.insert(closed(object)),
          replace: (object) => inner.replace(closed(object)),
        };
        return work(transaction);
      }),
    close: () => store.close(),
    ...(store.nodes && {
      nodes: {
        ...store.nodes,
        follow: (from, apply) => store.nodes!.follow(from, (news, inner) => apply(news, view(inner))),
      },
    }),
  };
}

function changed<Kind extends ResourceObject>(
  object: Kind,
  change: (value: unknown, place: string) => unknown,
): Kind {
  if (!KINDS_WITH_SECRETS.has(object.kind)) return object;
  const body: Body = withSecrets(resourceOfKind(object.kind), object.body, change);
  return body === object.body ? object : { ...object, body };
}

function isSealed(value: unknown): value is Sealed {
  return typeof value === 'object' && value !== null && typeof (value as Sealed).sealed === 'string';
}
