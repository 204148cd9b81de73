-- Asks tallyd about the address of the client, for haproxy.cfg beside it.
core.register_action("limit", {"http-req"}, function(txn)
  local response = core.httpclient():get{
    dst = "abns@tallyd",
    url = "http://localhost/check/web?key=" .. txn.f:src(),
    headers = {["host"] = {"localhost"}},  -- With requirepass also: ["authorization"] = {"Bearer password"}
  }
  local function field(name) return (response.headers[name] or {})[0] or "" end
  if response.status == 200 or response.status == 429 then
    txn:set_var("txn.limit", tostring(response.status))
    txn:set_var("txn.rate", field("ratelimit"))
    txn:set_var("txn.policy", field("ratelimit-policy"))
    txn:set_var("txn.retry", field("retry-after"))
  else
    txn:set_var("txn.limit", "undecided")
    core.Warning("tallyd gives no decision: " .. tostring(response.status))
  end
end)
