import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';

/**
 * The schema of SARIF 2.1.0 (OASIS; the file of SchemaStore). It is written for draft 4 of JSON Schema and uses nothing
 * that later drafts read differently.
 */
const {
  id: _id,
  $schema: _draft,
  ...schema
} = JSON.parse(readFileSync(new URL('../fixtures/sarif.schema.json', import.meta.url), 'utf8')) as Record<
  string,
  unknown
>;

const ajv = new Ajv({ strict: false, allErrors: true, unicodeRegExp: false });
addFormats.default(ajv);
const isValid = ajv.compile(schema);

/** What is wrong with a log; nothing if it is valid. */
export function sarifProblems(log: object): readonly string[] {
  if (isValid(JSON.parse(JSON.stringify(log)))) return [];
  return (isValid.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message ?? ''}`);
}
