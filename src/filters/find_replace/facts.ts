import type { ErrorNumber, Warning } from '../fact_values.ts';

/** Error numbers of actions that replace text in bodies and in event streams. */
export const numbers = {
  template: {
    number: 3900,
    title: 'Template of a replacement failed',
    means: 'An expression between `${` and `}` in a replacement of a body or of an event stream failed.',
  },
  pattern: {
    number: 3901,
    title: 'Pattern of a replacement invalid',
    means: 'The evaluated pattern does not have RE2 syntax.',
  },
  notBuffered: {
    number: 3902,
    title: 'Body not buffered',
    means:
      'The body was not read, because it is encoded: its content could not be searched, and it must not pass unsearched.',
  },
  unread: {
    number: 3903,
    title: 'Body not read',
    means: 'The body was incomplete, or larger than the search limit of 1 MiB.',
  },
  unchanged: {
    number: 3904,
    title: 'Body not changed',
    means: 'The body would exceed 1 MiB after the replacements.',
  },
};

export const serviceNumbers: readonly ErrorNumber[] = [
  {
    number: 3905,
    title: 'Length not changed',
    means:
      'The service uses it if the length of a changed body cannot be set. Here the writer of the message sets the length, which cannot fail.',
  },
];

/** Warnings about their replacements, and those of URLs. */
export const warnings: Readonly<Record<string, Warning>> = {
  'policy.no_such_group': {
    message: 'The replacement refers to a missing group of the pattern.',
    cure: [
      '`to: /b/$2` where the pattern has one group',
      'Correct the number, or add the group to the pattern',
    ],
  },
  'policy.group_as_template': {
    message: 'A reference to a group is written as in another tool: `$1` is the first group.',
    cure: ['`to: /b/${1}`, or `\\1`', 'Write $1'],
  },
};

/** Results of actions that replace text in bodies. */
export const messages = {
  replaced: 'text in the body was replaced',
  unchanged: 'nothing in the body had to be replaced',
};
