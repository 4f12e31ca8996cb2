/** Parts of edge files with one edge. */

export const action = (type: string, config: object = {}) => ({ type, config });
export const rule = (expressions: readonly string[], ...actions: readonly object[]) => ({
  expressions,
  actions: actions.length > 0 ? actions : [action('deny')],
});
export const deny = (...expressions: readonly string[]) => rule(expressions);
export const logged = (...expressions: readonly string[]) =>
  rule(expressions, action('log', { metadata: { lane: 'x' } }));
export const route = (match: string, more: object = {}) => ({
  match_type: 'path_prefix',
  match,
  backend: { backend_id: 'app' },
  ...more,
});
export const oidc = { issuer: 'https://idp.test', client_id: 'a', client_secret: 'b' };
/** An IP policy; denied ranges begin with a minus. */
export const ranges = (...cidrs: readonly string[]) => ({
  ip_policies: {
    p: {
      rules: cidrs.map((each) => ({
        action: each.startsWith('-') ? 'deny' : 'allow',
        cidr: each.replace(/^-/, ''),
      })),
    },
  },
});
/** Lets only that policy pass. */
export const gate = { ip_restriction: { ip_policy_ids: ['p'] } };
/** A rate limit by these expressions. */
export const limit = (...key: readonly string[]) => ({
  name: 'limit',
  algorithm: 'sliding_window',
  capacity: 10,
  rate: '60s',
  bucket_key: key,
});
