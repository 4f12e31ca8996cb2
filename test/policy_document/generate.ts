// Writes the files that are generated from the schemas and codes of policies: `node test/policy_document/generate.ts`.
import { writeFileSync } from 'node:fs';
import { format } from 'oxfmt';
import { serviceNaming } from '../../src/engine/naming.ts';
import { codesMarkdown } from '../../src/policy/codes/page.ts';
import { policyJsonSchema } from '../../src/policy/document/schema.ts';

const root = new URL('../../', import.meta.url);
const { code } = await format('policy.schema.json', JSON.stringify(policyJsonSchema()), { printWidth: 110 });
writeFileSync(new URL('src/policy/document/policy.schema.json', root), code);
writeFileSync(new URL('docs/policy_codes.md', root), codesMarkdown(serviceNaming('service')));
