import { FILES_BESIDE } from './files_beside.ts';
import { filesOnDisk } from './named_files.ts';
import type { Sources } from './sources.ts';

/** The files on disk, with other texts for some of them. */
export function textsOverDisk(texts: Readonly<Record<string, string>>): Sources {
  const own = (name: string): string | null => (Object.hasOwn(texts, name) ? texts[name]! : null);
  return {
    read: own,
    filesOf: (root) => {
      const files = filesOnDisk(root);
      return {
        ...files,
        read: (name) => {
          const text = own(name);
          return text === null ? files.read(name) : { name, text };
        },
      };
    },
    beside: FILES_BESIDE,
  };
}
