import { z } from 'zod';
import { RefusedInput } from './read_access.ts';

/** The command line of a call, before its paths are resolved. */
export interface ToolLine {
  readonly verb: string;
  readonly options: readonly string[];
  /** Options whose values are paths. */
  readonly pathOptions?: readonly (readonly [option: string, path: string])[];
  readonly paths?: readonly string[];
  /** What follows the paths. */
  readonly rest?: readonly string[];
  /** Text for standard input, which the verb reads as the file `-`. */
  readonly input?: string;
}

/** A tool: a verb with its input. */
export interface Tool {
  readonly title: string;
  readonly description: string;
  readonly input: z.ZodObject;
  readonly line: (input: never) => ToolLine;
  /** Whether the verb prints text, not JSON. */
  readonly isText?: true;
  /** Keeps of the result what the tool is about. */
  readonly pick?: (result: never) => unknown;
}

const TEXT_CHARACTERS = 1_048_576;

/** One line of text without control characters. */
const line = (description: string, max = 8_192) =>
  z
    .string()
    .min(1)
    .max(max)
    // oxlint-disable-next-line no-control-regex -- which are refused
    .regex(/^[^\u0000-\u001F\u007F]*$/, 'control characters are not allowed')
    .describe(description);
const file = line('Path of a file, relative to the first folder that the client allows', 4_096).optional();
const text = z
  .string()
  .max(TEXT_CHARACTERS)
  .optional()
  .describe('The text itself, in YAML or JSON, instead of a file');
const detail = z
  .enum(['short', 'full'])
  .optional()
  .describe('`full` gives the whole result, which may be long; default: short');
const paths = z
  .array(line('Path', 4_096))
  .max(100)
  .optional()
  .describe('Scenario files or folders; default: the first folder that the client allows');
const SOURCE = { file, text, detail };
const REQUEST = {
  ...SOURCE,
  method: z
    .string()
    .regex(/^[A-Za-z]{1,20}$/)
    .optional()
    .describe('Default: GET'),
  url: line('Full URL, such as https://shop.test/admin'),
  headers: z
    .record(z.string().regex(/^[\w!#$%&'*+.^`|~-]{1,200}$/), line('Value'))
    .optional()
    .describe('Request headers'),
  ip: z
    .string()
    .regex(/^[0-9A-Fa-f.:]{2,45}$/)
    .optional()
    .describe('Client address'),
};

interface Source {
  readonly file?: string;
  readonly text?: string;
}

interface Request extends Source {
  readonly method?: string;
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly ip?: string;
}

/** The file, or `-` with the text as standard input. */
function sourceOf({ file: path, text: own }: Source): Pick<ToolLine, 'input'> & { readonly path: string } {
  if ((path === undefined) === (own === undefined)) throw new RefusedInput('give either `file` or `text`');
  return own === undefined ? { path: path! } : { path: '-', input: own };
}

function sourceLine(verb: string, source: Source, ...options: readonly string[]): ToolLine {
  const { path, ...input } = sourceOf(source);
  return { verb, options, paths: [path], ...input };
}

function explained(
  { method = 'GET', url, headers = {}, ip, ...source }: Request,
  more: readonly string[],
): ToolLine {
  const { path, ...input } = sourceOf(source);
  if (!/^https?:\/\//i.test(url))
    throw new RefusedInput('`url` is a full URL, such as https://shop.test/admin');
  return {
    verb: 'explain',
    options: [
      '--json',
      ...more,
      ...(ip === undefined ? [] : [`--ip=${ip}`]),
      ...Object.entries(headers).map(([name, value]) => `--header=${name}: ${value}`),
    ],
    pathOptions: [['--edge', path]],
    rest: [method, url],
    ...input,
  };
}

/** All tools. None changes anything; those that need a network or another program end with an error. */
// table: tools
export const TOOLS: Readonly<Record<string, Tool>> = {
  check: {
    title: 'Check a configuration',
    description:
      'Findings in an edge file, traffic policy or scenario file, each with code, place, hint and, where one is certain, `fix`. An empty list means that it is valid. With `exact` also what no request can reach, and ways around gates.',
    input: z.strictObject({ ...SOURCE, exact: z.boolean().optional() }),
    line: ({ exact, ...source }: Source & { readonly exact?: boolean }) =>
      sourceLine('check', source, '--json', ...(exact === true ? ['--exact'] : [])),
  },
  explain: {
    title: 'Explain a request',
    description:
      'Step by step what an edge, or a policy, does with a request: which filter or rule decided, why, and where it is written.',
    input: z.strictObject(REQUEST),
    line: (request: Request) => explained(request, []),
  },
  decide: {
    title: 'Decide a request',
    description: 'Only the outcome of a request: status, backend and the reason.',
    input: z.strictObject(REQUEST),
    line: (request: Request) => explained(request, []),
    pick: ({ status, backend, decidedBy }: Readonly<Record<string, unknown>>) => ({
      status,
      backend,
      decidedBy,
    }),
  },
  why_not: {
    title: 'Find out why a rule does not decide',
    description:
      'The smallest change of a request (`witness`) after which a rule, module, route or reason code decides, or the proof that none exists.',
    input: z.strictObject({ ...REQUEST, name: line('Name of the rule, module, route or code', 500) }),
    line: ({ name, ...request }: Request & { readonly name: string }) =>
      explained(request, [`--why-not=${name}`]),
  },
  test: {
    title: 'Run scenarios',
    description:
      'Runs the cases of scenario files, and reports those that fail with what was expected and received.',
    input: z.strictObject({ paths, filter: line('Part of the name of cases', 500).optional(), detail }),
    line: ({ paths: named = ['.'], filter }: { paths?: readonly string[]; filter?: string }) => ({
      verb: 'test',
      // Threads are not permitted.
      options: ['--json', '--jobs=1', ...(filter === undefined ? [] : [`--filter=${filter}`])],
      paths: named,
    }),
  },
  cover: {
    title: 'Measure coverage',
    description: 'What the cases of scenario files leave untested in their edges, and why.',
    input: z.strictObject({ paths, detail }),
    line: ({ paths: named = ['.'] }: { paths?: readonly string[] }) => ({
      verb: 'cover',
      options: ['--json', '--no-offer'],
      paths: named,
    }),
  },
  diff: {
    title: 'Compare two configurations',
    description:
      'What two edge files do differently with any request: opened, closed, rerouted and changed, each with a `witness`, or the proof that they are equivalent.',
    input: z.strictObject({
      old: line('Path of an edge file', 4_096),
      new: line('Path of an edge file', 4_096),
      detail,
    }),
    line: ({ old, new: other }: { readonly old: string; readonly new: string }) => ({
      verb: 'diff',
      options: ['--json'],
      paths: [old, other],
    }),
  },
  prove: {
    title: 'Prove properties',
    description: 'Whether properties hold for every request of an edge file; a refuted one has a `witness`.',
    input: z.strictObject({
      file: line('Path of an edge file or a property file', 4_096),
      properties: z.array(line('Path of a property file', 4_096)).max(20).optional(),
      detail,
    }),
    line: ({ file: path, properties = [] }: { file: string; properties?: readonly string[] }) => ({
      verb: 'prove',
      options: ['--json'],
      pathOptions: properties.map((each) => ['--properties', each] as const),
      paths: [path],
    }),
  },
  bench: {
    title: 'Measure decisions',
    description: 'How fast a configuration decides, and what each rule costs. Takes some seconds.',
    input: z.strictObject({ ...SOURCE }),
    line: (source: Source) =>
      sourceLine('bench', source, '--json', '--quiet', '--duration=200ms', '--warm-up=500ms'),
  },
  explain_code: {
    title: 'Explain a code',
    description: 'What the code of a finding or of an error response means, with an example.',
    input: z.strictObject({ code: z.string().regex(/^[\w.-]{1,100}$/), detail }),
    line: ({ code }: { readonly code: string }) => ({
      verb: 'explain-code',
      options: ['--json'],
      rest: [code],
    }),
  },
  format: {
    title: 'Format a policy',
    description: 'The formatted text of a policy, or of an edge file with policies. Nothing is written.',
    input: z.strictObject(SOURCE),
    line: (source: Source) => sourceLine('fmt', source),
    isText: true,
  },
};
