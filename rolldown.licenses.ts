import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { OutputBundle, Plugin } from 'rolldown';

/** Writes the licences of the packages in a bundle beside it. */
export function licenses(fileName = 'LICENSES.txt'): Plugin {
  return {
    name: 'licenses',
    async generateBundle(_options, bundle) {
      this.emitFile({ type: 'asset', fileName, source: await licensesOf(bundle) });
    },
  };
}

/** The licences of the packages in a bundle. */
export async function licensesOf(bundle: OutputBundle): Promise<string> {
  const parts = Object.values(bundle).flatMap((part) => ('moduleIds' in part ? part.moduleIds : []));
  const folders = new Set(parts.flatMap((id) => /^[^\0].*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id) ?? []));
  const texts = await Promise.all([...folders].toSorted().map(licenseOf));
  return texts.join('\n\n');
}

async function licenseOf(folder: string): Promise<string> {
  const { name, version } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as {
    name: string;
    version: string;
  };
  const files = await readdir(folder);
  const file = files.find((entry) => /^licen[cs]e/i.test(entry));
  const text =
    file === undefined ? await licenseInReadme(folder) : await readFile(join(folder, file), 'utf8');
  if (text === null) throw new Error(`${name} is bundled and has no licence text`);
  return `${name} ${version}\n\n${text}`;
}

/** The last section of a README, where some packages have their licence; null if it has none. */
async function licenseInReadme(folder: string): Promise<string | null> {
  const text = await readFile(join(folder, 'README.md'), 'utf8').catch(() => '');
  return /^(?:#+ licen[cs]e|licen[cs]e\n-+)\s*$([\s\S]*Copyright[\s\S]*)/im.exec(text)?.[1]?.trim() ?? null;
}
