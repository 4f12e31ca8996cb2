-- wrk script. Environment: BODY_BYTES, CLOSE, GZIP, AGENTS (how many different user agents), HOST.
local bytes = tonumber(os.getenv("BODY_BYTES") or "0")
local agents = tonumber(os.getenv("AGENTS") or "1")
local base = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Safari/537.36 Build/"
local requests = {}

function init(args)
  local path = args[1] or "/1k"
  for index = 1, agents do
    local headers = {
      ["Host"] = os.getenv("HOST") or "bench.test",
      ["User-Agent"] = base .. (1000 + index),
      ["Accept"] = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
      ["Accept-Language"] = "en-US,en;q=0.5",
      ["Cookie"] = "session=0123456789abcdef; theme=dark",
    }
    if os.getenv("GZIP") == "1" then headers["Accept-Encoding"] = "gzip" end
    if os.getenv("CLOSE") == "1" then headers["Connection"] = "close" end
    if bytes > 0 then
      headers["Content-Type"] = "application/octet-stream"
      requests[index] = wrk.format("POST", path, headers, string.rep("x", bytes))
    else
      requests[index] = wrk.format("GET", path, headers)
    end
  end
end

local turn = 0
function request()
  turn = turn % agents + 1
  return requests[turn]
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    'RESULT {"requests":%d,"microseconds":%d,"p50":%.3f,"p99":%.3f,"wrong":%d,"broken":%d,"late":%d}\n',
    summary.requests, summary.duration, latency:percentile(50) / 1000, latency:percentile(99) / 1000,
    errors.status, errors.connect + errors.read + errors.write, errors.timeout))
end
