// Writes the files that are generated from the schemas of the edge file: `node test/edge_document/generate.ts`.
import { writeFileSync } from 'node:fs';
import { format } from 'oxfmt';
import { edgeFileJsonSchema } from '../../src/edge/document/schema.ts';

const path = new URL('../../src/edge/document/edge_file.schema.json', import.meta.url);
const { code } = await format('edge_file.schema.json', JSON.stringify(edgeFileJsonSchema()), {
  printWidth: 110,
});
writeFileSync(path, code);
