import { readFileSync, readdirSync } from 'node:fs';

/** The tests that expect each error number, by number: files below `test/` in which it stands as a whole code. */
export function testsByNumber(): ReadonlyMap<number, readonly string[]> {
  const folder = new URL('../test/', import.meta.url);
  const byNumber = new Map<number, string[]>();
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.(?:test\.ts|yaml)$/.test(file) || file.endsWith('/cases.ts'))
    .sort();
  for (const file of files) {
    const text = readFileSync(new URL(file, folder), 'utf8');
    for (const number of new Set(
      Array.from(text.matchAll(/\bERR_SERVICE_(\d+)\b/g), ([, digits]) => Number(digits)),
    ))
      byNumber.set(number, [...(byNumber.get(number) ?? []), `test/${file}`]);
  }
  return byNumber;
}
