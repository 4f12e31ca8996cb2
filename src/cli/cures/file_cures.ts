import type { ReadingCode, ShapeCode } from '../../config_file/codes.ts';

/** Cures of what any kind of file can have, without the prefix of the kind. */
// table: examples and cures of codes
export const FILE_CURES: Readonly<Record<ReadingCode | ShapeCode, readonly [example: string, cure: string]>> =
  {
    empty: [
      'A file with only `# a comment`',
      'Write the keys of the file, or start from the one that `edgeproof init` writes',
    ],
    not_text: [
      'A file in UTF-16, or with a zero byte',
      'Save the file as UTF-8, and remove the character that the finding marks',
    ],
    not_a_map: ['A file that begins with `- backends`', 'Begin with a key and a colon, such as `backends:`'],
    other_file: [
      'A Kubernetes manifest, or a list of rules without their phase',
      'Name an edgeproof file, or follow the hint in the finding',
    ],
    too_large: ['A file of many megabytes', 'Split it with `include`, or leave out what is not used'],
    too_deep: [
      'A list in a list in a list, 65 times',
      'Remove the levels that have no meaning; a bracket may be missing',
    ],
    several_documents: [
      'A line with `---` after the first document',
      'Put each document into a file of its own',
    ],
    syntax: [
      "`server: 'edge`, a quote that is not closed",
      'Correct the place that the finding marks; editors with YAML support show it, too',
    ],
    tab_indent: ['A line that begins with a tab', 'Indent with spaces'],
    unknown_tag: ["`expressions: [!req.url.path.startsWith('/a')]`", 'Put the value in quotes'],
    unknown_alias: [
      '`backend: *app` without an `&app` before it',
      'Write the anchor before it, or the value itself; put a text that begins with a star in quotes',
    ],
    alias_limit: [
      'Aliases of aliases that stand for millions of values',
      'Write the values that are meant, or use fewer aliases',
    ],
    duplicate_key: [
      'Two keys `backend` in one route',
      'Remove one of them, or make the second a new item of the list',
    ],
    bad_key: ['`<<: *defaults`, which merges keys', 'Write the keys themselves; a key is a text'],
    unknown_key: [
      '`ip_restrictions` instead of `ip_restriction`',
      'Correct the spelling; the finding lists the keys that exist there',
    ],
    missing_key: ['A route without `match`', 'Add the key; the finding says what it means'],
    wrong_type: [
      '`port: "80"` where a number is wanted',
      'Write a value of the type that the finding names; a quoted number is a string',
    ],
    unknown_value: ['`match_type: prefix`', 'Write one of the values that the finding lists'],
    out_of_range: [
      '`error_threshold_percentage: 50`, which is a share from 0 to 1',
      'Write a number within the limits of the finding',
    ],
    too_long: ['A description of several kilobytes', 'Shorten it to the limit of the finding'],
    empty_value: ['`hostports: []`', 'Add an item, or leave the key out'],
    bad_form: ["`advance: '5'`, a duration without a unit", 'Write it in the form that the finding names'],
    bad_name: ['A backend named `my app`', 'Use letters, digits, dashes, underscores and dots'],
  };
