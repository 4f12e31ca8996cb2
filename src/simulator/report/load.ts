import type { Reporter, ReporterLook, ReporterName } from './reporter.ts';

/** Loads a reporter on demand: most runs need only one. */
export async function loadReporter(name: ReporterName, look: ReporterLook): Promise<Reporter> {
  switch (name) {
    case 'pretty':
      return (await import('./pretty.ts')).prettyReporter(look);
    case 'dot':
      return (await import('./pretty.ts')).dotReporter(look);
    case 'json':
      return (await import('./data.ts')).jsonReporter();
    case 'ndjson':
      return (await import('./data.ts')).ndjsonReporter();
    case 'junit':
      return (await import('./junit.ts')).junitReporter();
    case 'tap':
      return (await import('./tap.ts')).tapReporter();
    case 'github':
      return (await import('./github.ts')).githubReporter();
    case 'html':
      return (await import('./html.ts')).htmlReporter();
  }
}
