// Writes the file that is generated from the schemas of policies: `node test/policy_document/generate.ts`.
import { writeFileSync } from 'node:fs';
import { format } from 'oxfmt';
import { policyJsonSchema } from '../../src/policy/document/schema.ts';

const path = new URL('../../src/policy/document/policy.schema.json', import.meta.url);
const { code } = await format('policy.schema.json', JSON.stringify(policyJsonSchema()), { printWidth: 110 });
writeFileSync(path, code);
