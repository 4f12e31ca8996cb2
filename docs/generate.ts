import { mkdirSync, writeFileSync } from 'node:fs';
import { edgeFileJsonSchema } from '../src/edge/document/schema.ts';

/** Writes every file that is made from the code: `npm run generate`. CI fails when one of them differs. */
const FILES: readonly (readonly [path: string, content: string])[] = [
  ['src/edge/document/edge_file.schema.json', json(edgeFileJsonSchema())],
  ['schema/edge.json', json(edgeFileJsonSchema())],
];

const root = new URL('..', import.meta.url);
for (const [path, content] of FILES) {
  const url = new URL(path, root);
  mkdirSync(new URL('.', url), { recursive: true });
  writeFileSync(url, content);
}

function json(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
