import { readFileSync, readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { fragmentOf, projectOf } from '../../docs/playground_links.ts';
import { loadConfigText } from '../../src/project_files/load_config.ts';
import { projectIn } from '../../src/playground/ui/project.ts';

const projects = readdirSync('docs', { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.md'))
  .flatMap((name) =>
    Array.from(
      readFileSync(`docs/${name}`, 'utf8').matchAll(/^```(\S*)\n(.*?)^```$/gms),
      ([, language, text]) => ({
        name,
        project: projectOf(language!, text!),
      }),
    ),
  )
  .flatMap(({ name, project }) => (project === null ? [] : [{ name, project }]));

const errorsIn = async (project: Readonly<Record<string, string>>) => {
  const { diagnostics } = await loadConfigText('edge.yaml', project['edge.yaml']!);
  return diagnostics.filter(({ severity }) => severity === 'error').map(({ message }) => message);
};

/** Examples of what is wrong, which the playground shows as such. */
const WRONG = /codes\.md$/;

test('pages have examples that open in the playground', () => {
  expect(projects.length).toBeGreaterThan(0);
});

test.each(projects.filter(({ name }) => !WRONG.test(name)))(
  '$name: an example has no errors',
  async ({ project }) => {
    expect(await errorsIn(project)).toEqual([]);
  },
);

test('the playground reads each from its fragment', async () => {
  for (const { project } of projects) expect(await projectIn(fragmentOf(project))).toEqual(project);
});
