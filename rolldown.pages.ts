import { fileURLToPath } from 'node:url';
import type { Plugin, RolldownOptions } from 'rolldown';

const twinOf = (name: string): string => fileURLToPath(new URL(`src/browser/${name}.ts`, import.meta.url));

/** Modules of Node with a twin for pages. */
// table: twins
const TWINS: Readonly<Record<string, string>> = {
  'node:buffer': 'buffer',
  'node:crypto': 'crypto',
  'node:fs': 'fs',
  'node:path': 'path',
  'node:url': 'url',
  'node:util': 'style_text',
  'node:zlib': 'zlib',
};

/** Puts the twins in the place of Node's modules, and refuses those that have none. */
function twins(): Plugin {
  return {
    name: 'twins',
    resolveId(id, importer) {
      if (!id.startsWith('node:')) return null;
      const name = TWINS[id];
      if (name !== undefined) return twinOf(name);
      throw new Error(`${importer} needs ${id}, which pages do not have`);
    },
  };
}

/** What every script of a page has in common. */
export const PAGE_SCRIPT = {
  platform: 'browser',
  plugins: [twins()],
  transform: {
    inject: { Buffer: [twinOf('buffer'), 'Buffer'], process: [twinOf('process'), 'process'] },
  },
} as const satisfies RolldownOptions;
