import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { loadConfig } from '../../../src/project_files/load_config.ts';
import { folderWith } from '../../folder.ts';
import { gateConfig } from './gate.ts';
import { IDP_METADATA } from './idp_metadata.ts';

const folder = folderWith();

it('the command line checks metadata with the current time', async () => {
  const path = join(folder, 'edge.json');
  const codesOf = async (metadata: string): Promise<string[]> => {
    writeFileSync(path, JSON.stringify(gateConfig(metadata)));
    return (await loadConfig(path)).diagnostics.map(({ code }) => code);
  };
  expect(await codesOf(IDP_METADATA)).toEqual([]);
  expect(await codesOf('<x/>')).toEqual(['edge.saml_metadata']);
  const ended = IDP_METADATA.replace(' entityID', ' validUntil="2020-01-01T00:00:00Z" entityID');
  expect(await codesOf(ended)).toEqual(['edge.saml_metadata']);
});
