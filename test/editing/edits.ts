import fc from 'fast-check';
import { PIECES } from './pieces.ts';

/** Texts with lists of all forms, at several depths. */
export const LISTS: readonly string[] = [
  `backends:
  app: { static: { address: "localhost:3000" } }
edges:
  https:
    shop:
      routes:
        - match: /
          traffic_policy:
            on_http_request:
              - name: one
                expressions: ["req.method == 'GET'"]
                actions: [{ type: deny, config: { status_code: 403 } }]
              - name: two
                expressions:
                  - req.headers['x-a'][0] == 'b'
                  - |
                    vars.a
                      && true

                actions:
                  - type: custom-response
                    config: { body: "\${req.url.path} a" }

              # between
              - name: three
                actions: [{ type: log, config: { metadata: { a: "\${vars.b}" } } }]
        - match: /b
          backend: { backend_id: app }
last: ~
`,
  `- a
-
  - b: "c
    d"
  - 'e
- >+
  f

- - g
  - h: [i, {j: k
    , l}]
- *m
- &n o
- p:
  - q
  - r
`,
  `\r\nx:\r\n- a: 1\r\n  b: |\r\n    c\r\n- d: 'e'\r\n\r\n- f\r\n- g: [h,\r\n  i]\r\n- j\r\ny: z\r\n`,
  `cases:
  - name: one
    request: { url: 'https://shop.test/', headers: { x-a: b } }
    expect: { upstream: app }
  - name: two
    request:
      url: https://shop.test/c
    expect:
      because: { rule: one }
`,
];

export interface Edit {
  readonly at: number;
  readonly remove: number;
  readonly insert: string;
}

const WRITTEN = [
  ...PIECES,
  '\n\n',
  '\n- ',
  '\n  - ',
  '\n              - ',
  '\n---\n',
  '%',
  '${req.',
  'name: ',
];

/** Places are shares of the text, which changes with each edit. */
export function edits({ most }: { readonly most: number }): fc.Arbitrary<readonly Edit[]> {
  return fc.array(
    fc.record({
      at: fc.double({ min: 0, max: 1, noNaN: true }),
      remove: fc.oneof(fc.constant(0), fc.nat(4), fc.nat(60)),
      insert: fc.oneof(fc.constant(''), fc.constantFrom(...WRITTEN)),
    }),
    { minLength: 1, maxLength: most },
  );
}

export function edited(text: string, { at, remove, insert }: Edit): string {
  const offset = Math.floor(at * text.length);
  return text.slice(0, offset) + insert + text.slice(offset + remove);
}
