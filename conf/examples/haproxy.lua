-- Asks tallyd about the address of the client, for haproxy.cfg beside it.
core.register_action("limit", {"http-req"}, function(txn)
  local response = core.httpclient():get{
    url = "http://127.0.0.1:8379/check/web?key=" .. txn.f:src(),
    headers = {["host"] = {"localhost"}},
    timeout = 1000,
  }
  local function field(name) return (response.headers[name] or {})[0] or "" end
  txn:set_var("txn.limit", tostring(response.status))
  if response.headers then
    txn:set_var("txn.rate", field("ratelimit"))
    txn:set_var("txn.policy", field("ratelimit-policy"))
    txn:set_var("txn.retry", field("retry-after"))
  end
end)
