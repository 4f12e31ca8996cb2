/** A policy that admits 20 requests a minute below `/limited` for each value of an expression. */
export function limitedPolicy(key: string): string {
  const config = {
    name: 'n',
    algorithm: 'sliding_window',
    capacity: 20,
    rate: '60s',
    bucket_key: [key],
  };
  return JSON.stringify({
    on_http_request: [
      {
        expressions: ["req.url.path.startsWith('/limited')"],
        actions: [{ type: 'rate-limit', config }],
      },
    ],
  });
}
