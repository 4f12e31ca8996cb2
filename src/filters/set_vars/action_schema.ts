import * as z from 'zod';

export const setVars = z
  .strictObject({
    vars: z.array(z.record(z.string(), z.json())).min(1).meta({
      description: 'Variables in order, each a map of one name to its value; `${…}` in strings is evaluated.',
      kind: 'variables',
      template: true,
    }),
  })
  .describe('Sets variables for later expressions: vars.<name>.');

export type SetVarsConfig = z.output<typeof setVars>;
