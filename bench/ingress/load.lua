-- wrk script; its argument is the target. Environment: METHOD, BODY_BYTES, AGENTS (how many different user agents),
-- PER_CONNECTION (of so many requests one closes its connection; 0: none does), HEADERS (a line each, `name: value`).
local bytes = tonumber(os.getenv("BODY_BYTES") or "0")
local agents = tonumber(os.getenv("AGENTS") or "1")
local each = tonumber(os.getenv("PER_CONNECTION") or "0")
local requests, closing = {}, {}

function init(args)
  local headers, agent = {}, nil
  for name, value in os.getenv("HEADERS"):gmatch("([^:\n]+): ([^\n]*)") do headers[name] = value end
  agent = headers["User-Agent"]
  for index = 1, agents do
    -- As long as the one that is sent where there is only one.
    if agents > 1 then headers["User-Agent"] = agent:gsub("%d%d%d%d$", tostring(1000 + index % 9000)) end
    local body = bytes > 0 and string.rep("x", bytes) or nil
    headers["Connection"] = nil
    requests[index] = wrk.format(os.getenv("METHOD"), args[1], headers, body)
    headers["Connection"] = "close"
    closing[index] = wrk.format(os.getenv("METHOD"), args[1], headers, body)
  end
end

local turn, sent = 0, 0
function request()
  turn = turn % agents + 1
  sent = sent + 1
  return each > 0 and sent % each == 0 and closing[turn] or requests[turn]
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    'RESULT {"requests":%d,"microseconds":%d,"bytes":%d,"p50":%.3f,"p99":%.3f,"wrong":%d,"broken":%d,"late":%d}\n',
    summary.requests, summary.duration, summary.bytes, latency:percentile(50) / 1000, latency:percentile(99) / 1000,
    errors.status, errors.connect + errors.read + errors.write, errors.timeout))
end
